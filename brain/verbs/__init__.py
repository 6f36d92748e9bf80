"""Operations that are not in brain/operations yet."""
