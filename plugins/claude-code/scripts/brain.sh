#!/bin/sh
# Run Brain, also where it is not on the PATH. A hook does nothing if Brain is not installed.
for brain in "$(command -v brain)" "$HOME/.local/bin/brain" "$HOME/bin/brain" \
  /opt/homebrew/bin/brain /usr/local/bin/brain; do
  [ -x "$brain" ] && exec "$brain" "$@"
done
if python3 -P -c "import brain.cli" 2>/dev/null; then
  exec python3 -P -m brain "$@"
fi
[ "$1" = hook ] && exit 0
echo "Brain is not installed. Run: pipx install vault-brain" >&2
exit 1
