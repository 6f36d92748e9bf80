"""The 3,000 most usual words of notes, conversations and programs that are one token to
each tokenizer that `brain.tokens` was fitted to."""

WORDS = """
abc ability able abort about above abs absolute absolutely abstract accept acceptance accepted
accepts access accessed accessing accident according account accounts achieve across act action
actions active activities activity acts actual actually adapted add added adding addition additional
additionally addr address addresses adds adjust adjusted admin adopt adopted adopting adoption
advanced advantage adventure advice affect affected affects after afterwards again against age
agencies agency agent ago agree agreed agreement air algorithm alias align alignment alive all alloc
allocate allocated allocation allow allowed allowing allows almost alone along alpha already also
alternate alternative although altogether always amazing ambiguous among amount analysis and android
animals another answer any anymore anyone anything anyway api app appear appears append appended
apple applicable application applications applied applies apply applying appreciate appreciated
approach appropriate apt arbitrary arch architecture archive are area areas aren arg argc args
argument arguments argv arm arms around array arrays art artifacts artist arts ask asked asking asks
assembly assert assets assign assigned assignment assistance assistant associated assume assumed ast
async ate atomic attached attempt attempting attempts attended attitude attr attribute attributes
audit aug auth authentic authentication author authors auto automatic automatically autumn available
avoid await aware awareness away awe awesome awk back backend background backing backyard bad badge
bag balance band bank bar bare base based bash basic basically baz beach beautiful beauty because
become becomes becoming bed been before begin beginning behave behavior behaviour behind being
belief believe belongs below bench benchmark besides best bet beta better between beyond big biggest
bin binary bind binding birds birthday bit bits biz black blank blanket blast blessed blob block
blocked blocks blog blue board body bold bond bonding book books bool boolean boot bootstrap borrow
borrowed both bottom bounce bound bounds bowl box brain branch branches brand brave break breaks
breathe bridge brief brigade bring brings broken brother brought browser buddy budget buf buffer
buffers bug bugs build builder building builds built bump bunch bundle business busy but button byte
bytes cache cached caching caf calculate calculated call callback called caller calling calls calm
came camera camping can candidate candidates cannot canonical canvas capable caption capture car
care cargo carries carry case cases cast cat catch category cause caused causes causing celebrate
cell center ceramic cert certain certificate cfg chain chalk challenge challenges chan chance change
changed changes changing channel chapter char character characters charge charity chars chat
chatting check checked checking checkout checks child children choice choose chose chosen chunk
church circle city class classes classical clause clauses clean cleaned cleanup clear cleared client
clients cliff climbing clock clone cloned close closed closer closes closing closure cloth clothes
clothing cloud clouds cls cmd cmp coast code codes coding collect collected collecting collection
collections colon color colorful colors column columns com combination combine combined combining
come comes comfort coming comma command commands comment comments commit commitment commits common
commonly communication communities community comp company compare comparison compassion compat
compatibility compatible competition compilation compile compiled compiler compiling complete
completed completely completes completion complex compliance component components compress
compressed compression computation compute computed computer computes concept concepts concern
concert concrete concurrent condition conditional conditions conf confidence config configuration
configure configured conflict conflicts confused confusing connect connected connecting connection
connections consider considered considering consistent console const constant constants constraint
constraints construct constructor consumed contain contained container containing contains content
contents context contexts continue contrib contribute contributing contributions contributors
control controls convention conventions conversation conversations conversion convert converted
converting cool copied copies copy copying copyright core corner correct corrected correctly
corresponding cost costumes could couldn counseling count counter country counts couple courage
course cover coverage covered cpu crash crazy create created creates creating creation creative
creativity critical crop cross crowd crucial crypto ctx curl current currently custom customers cut
cute cycle dad dance dancers dancing data database date dates datetime daughter dawn day days dead
deal dealing death debug debugging dec decide decided decision decisions declaration declarations
declare declared decode decoder decor dedicated dedication deep def default defaults defer define
defined defines defining definitely definition definitions degree del delay delete deleted delta dep
depend dependencies dependency dependent depending depends deprecated depth derive derived describe
described describes describing description descriptor deserves design designed designs desired desk
dest destination destroy destroyed detail detailed details detect detected detection determination
determine determined determines dev developed developer developers development device devices
diagnostic dict did didn die diff differ difference differences different difficult digest digit
digits dinner dir direct directive directly directories directory disable disabled disconnect
discovery discuss discussed discussion disk dispatch display dist distance distribute distributed
distribution div doc docker docs doctor document documentation documented documents does doesn dog
doing dom domain domestic don done door dot double doubt down download downloaded downloading
drawing dream dreams dress drew drink drive driver drop dropped dst due dummy dump duplicate
duration during dyn dynamic dynamically each earlier early easier easily east easy echo edit
editable editing edition editor education effect effects effort either element elements elf elif
else email embedded embracing emit emitted emotional emotionally empty enable enabled enables
enabling enc enclosing encode encoded encoding encouragement encouraging encrypt end ended endif
ending ends energy enforce engine english enjoy enjoyed enjoying enough ensure ensures enter
enthusiasm entire entirely entries entry enum env environment environments equal equality equivalent
err error errors escape especially essential etc eval evaluate evaluated evaluation even evening
event events ever every everyone everything everywhere exact exactly example examples except
exception exceptions excited exciting exclude exec executable execute executed executing execution
exercise exist existing exists exit exp expand expanded expansion expect expected experience
experiences experimental explain explained explanation explicit explicitly explore exploring export
exported exports expr express expressing expression expressions ext extend extended extends
extension extensions extern external extra extract extracted eye face faces fact factor factory fail
failed fails failure failures fair faith fall falling false fam familiar families family fan far
fashion fast faster fatal fault favorite feature features feedback feel feeling feelings feels felt
fetch few field fields fight fighting figure file filename files fill filled fills filter filtered
filtering filters final finally financial find finding finds fine finish finished fire first fit
fitness five fix fixed fixes fixing flag flags float floating flood floor flow flowers flush fmt
focus focused focusing folder folks follow followed following follows font fonts foo food for force
forces foreign forget fork form format formats formatted formatting forms forward found foundation
four fragment frame framework free freedom fresh fri friend friends friendship from front fulfilled
fulfilling full fully fun func function functionality functions funding furnished further future
gains game games garden gather gave gen gender general generally generate generated generates
generating generation generations generator generators generic genuine get gets getting girl girls
git github give given gives giving glad glass glob global goal goals goes going golden gone gonna
good goodness google gorgeous got goto gotta governed governing grand granted graph grass grateful
gratitude great greater green grep ground group groups grow growing growth guarantee guaranteed
guarantees guard guess guide guys gym had half hand handle handled handler handlers handles handling
hands hanging happen happened happening happens happier happiness happy hard harder hardware has
hash have haven having head header headers heads health heap hear hearing heart hearts heavy height
held hello help helped helper helpful helping helps her here hereby herself hey hidden hide high
higher hiking him hint hints hips his history hit hold holding holds home homeless homepage homes
honor hook hooks hope hopefully hoping horizon host hour hours house housing how however href html
http https huge huh human hunt hurt hybrid idea ideas ident identical identified identifier
identifiers identity ids idx ignore ignored image images imagine img immediate immediately immutable
impact impl implement implementation implementations implemented implementing implements implicit
implicitly implied import importance important imported imports impressed improve improved
improvement improvements improving inc include included includes including inclusive incompatible
incomplete incorrect incorrectly incredible incremental indent independent index indexes indicate
indicates indices indirect individual individuals infer inference inferred infinite info information
infrastructure ing init initial initialization initialize initialized initiative injection inline
inner input inputs insert inside inspect inspiration inspired inspiring inst install installation
installations installed installing instance instances instead instruction instructions int integer
integration integrity intended intent interactions interactive interest interested interesting
interface interfaces internal internally interpret interpreted interrupt interrupted interval into
intrinsic intro introduce introduced introducing invalid invitation invocation invoke invoked
invoking involved isinstance isn iso isolated isolation issue issues item items iter iteration
iterator its itself jan java job jobs join joined joining journal journey joy json jump jun just
justification keep keeping keeps kept kernel key keys keyword keywords kid kids kill killing kind
kinda kindness kinds know knowing knowledge known knows label labels lack laid lake lambda landscape
lang language languages laptop large largely larger last lately later latest latter laughing
laughter law lawyer layer layout lazy lead leading leads lean learn learned learning learnt least
leave leaves left legacy len lend length less lesson lessons let lets letter letting level levels
lib libraries library license licensed licenses life lifetime lifting light like likely limit
limitation limitations limited limits line lines link linked linker linking links lint linux list
listed listener listening listing listings lists literal little live lively lives living load loaded
loader loading loads local locale locally located location lock log logger logging logic logical
login logs long longer look looked looking looks lookup loop loops lose losing lost lot lots love
loved loving low lower luck lucky mac machine machines macro macros made magic mail mailing main
mainly maintained major make makes making man manage managed management manager managing manifest
manual manually many map mapped mapping maps mar march margin mark marked marker mask master match
matched matches matching math matter matters max maximum may maybe meal mean meaning meaningful
means meant mechanism medal media medium meet meeting mel mem member members memories memory men
mental mention mentioned mentioning mentor menu merge merged message messages met meta metadata
meteor method methods middle might migration military milliseconds min mind mine minimum minor
minutes mir mirror mirrors missing mix mod mode model modern modification modified modify modifying
module modules mom moment moments mon money monitor month months more most motivate motivated
motivation mount mountain mountains move moved moves moving msg much mul multi multiple music must
mut mutable myself name named names namespace naming narrow native natural naturally nature near
nearby necessarily necessary need needed needs neg negative neighborhood neither nested net network
networking never new newer newly news next nice night nil node nodes non none nor normal normalize
normalized normally not notation note notes nothing notice noticed notify nov now null num number
numbers numeric obj object objects obsolete obstacles obtain obtained obtaining obviously occur
occurred occurs ocean oct off offer offering offers office offset offsets often okay old older omit
omitted once one ones ongoing online only onto opaque open opened opening operand operate operates
operating operation operations operator operators opportunities opportunity ops opt optimistic
optimization optimized option optional optionally options order ordered org organization
organizations organized orig origin original other others otherwise our ourselves out outer outlet
outlook output outputs outside over overall overflow overlooking override overview overwhelmed own
owned owner ownership pack package packages packaging page pages paid paint painted painting pair
pairs panic paper parade parallel param parameter parameters params parent park parse parsed parser
parsing part partial particular particularly parts party pass passed passes passing passion
passionate password past paste patch patches path paths pattern patterns pause paying payload peace
peaceful pen pending people per perf perfect perform performance performed performing perl
permission permissions permit permitted persistent person personal persons perspectives pet pets
phase phone photo photography photos pic pick picnic picture pictures pid piece pieces pin pink
pinned pip pipe pipeline place placed places plain plan planning plans plate platform platforms play
played playground playing please plugin plus poetry point pointed pointer pointers pointing points
pole policies policy politics pool pop port portable portions pos posing position positive possible
possibly post posted poster posters potential power powerful practice pre precedence precious
precision prefer preference preferences preferred prefers prefix prepare presence present preserve
preserved pretty prevent prevents previous previously pride primarily primary primitive print
printed printf printing prints prior priority private probably problem problems proc procedure
process processed processes processing processor prod produce produced produces production products
profile program programming programs progress project projects promise promising promote promoted
promotion prompt prop proper properly properties property props protecting proto protocol prototype
proud provide provided provider provides providing proxy pseudo ptr pub public publish published
pull pumped pup pure purple purpose purposes pursue push pushing put puts putting python qualified
quality queries query question questions queue quick quickly quiet quit quite quote quoted quotes
race rainbow raise raised raises raising ran rand random range rank rare rather raw reach reached
reaching react reaction read readable reader reading readonly reads ready real realize really reason
reasons rebuild recall receive received receiver receiving recent recently recognize recommend
recommended record records recursive recursively red reduce ref refer reference referenced
references referred refers reflect refresh reg regarding regardless regex region regions register
registered registers registry regression regular reject rejected related relationships relative
relax release released releases relevant relief rely relying remaining remember remind reminded
reminder reminding reminds remote remove removed removes removing rename renamed render repeat
repeatedly replace replaced replaces repo report reported reporting reports repositories repository
repr represent representation represented representing represents reproduce request requested
requests require required requirement requirements requires requiring res rescue research
researching reserved reset residents resilience resilient resolution resolve resolved resource
resources respect respectively response responsibility responsible rest restart restore restriction
result resulting results resume ret retrieval return returned returning returns reuse rev reverse
revert review revision rewarding rewrite ride right rights rigid risks road rock rocky role roller
room root rough round rounds routine routines row rows rule rules run running runs runtime rust sad
safe safely safer safety said same sample sand sanity sat satisfy satisfying save saved saving saw
say saying says scan scared scary schema scheme school schools sci scope score screen script scripts
sea search searched searching sec second seconds secret section sections secure security sed see
seed seeing seems seen segment select selected selecting selection self sell semantics send sending
sends sense sensitive sent sep separate separated sequence series seriously serve served server
servers service services serving session sessions set sets setting settings setup several sha shadow
shall shape share shared sharing she shell shelter shift shoes shop shore short shorter shot should
shouldn show showed shower showing shown shows shut side sides sidewalk sig sign signal signals
signature signatures signed significant signs silently silly similar similarly simple simpler
simplified simply since single site sites sitting situation situations size sized sizeof sizes
skills skip skipped skipping sky sleep slice slices slightly slow small smaller smart smell smile
smiles smiling snapshot snippet social socket sockets soft software solution solutions solve some
somehow someone something sometimes somewhere son song soon sorry sort sorted soul sound sounds
source sources space spaces span sparked spawn speak spec special specific specifically
specification specified specifies specify specifying speed spend spending spent split spoke spot
spread spreading square src stability stable stack stage stained stale stand standard standards
standing stands start started starting starts startup stat state statement statements static stating
status stay staying stays std stdin stdout step steps stick sticking still stop storage store stored
stores stories story str strategies strategy stream streams street streets strength strict string
strings strip strong struct structure struggles struggling students studio stuff stunning style sub
subject subsequent substantial substituted succeed succeeds success successful successfully such
suddenly suffix suggest suggested suggestion suitable suite sum summary summer sun sunset sup super
supplied support supported supporting supportive supports suppress sure surrounded surrounding swap
sweet switch sym symbol symbolic symbols sync synonym syntax sys system systems tab table tables
tackle tag tags tail take taken takes taking talents talk talked talking tar target targets task
tasks tattoo taught teach teaches team tech tell tells temp template temporary ten term terminal
terminate terminated terms test tested testing tests text than thank thankful thanks that the their
them theme themselves then therapeutic there therefore these they thing things think thinking third
this those though thought thoughts thread threads three threshold thrilled through throughout throw
thrown thus time timeout timer times timestamp tip tips title tmp today together token tokens told
tons too took tool tools top topic total totally touch touching tough towards town trace track
tracker tracking trail trailing training trait traits trans transfer transform transgender
transition translate translation translations transparent transport trap treat treated tree trees
tried tries trigger triggered triggers trim trip trips trophy trouble true truly trust trusted try
trying tuple tuples turn turned turns tutorial twice two txt type typed typeof types typically
typing uint unable unc undefined under underlying understand understanding understands undo
unexpected unfortunate unified union unique unit units unittest unity universe university unknown
unless unlike unlikely unlock unnecessary unpredictable unsafe unsigned unspecified unstable until
unused update updated updates updating upgrade upgrades upload upon upper upstream urgency url usage
use used useful user username users uses using usual usually utf util utilities utility utils uuid
vacation val valid validate validation value values var variable variables variant variants variety
various vault vec vector vectors vendor verbose verify version versions very veterans via vibrant
vic view virtual visible visit visited visiting visual void volunteer volunteers wait waiting waking
walk walking walks wall wanna want wanted wants warmth warn warning warnings warns warranty was wasn
watch watching water wave way ways web website wed wedding week weekend weeks weight welcome
welcoming well went were weren what whatever wheel when whenever where whether which while white who
whole whom whose why wide widget widgets width wiki wild will win wind window windows wish with
within without witness woman women won wonderful wooden word words work worked worker working
workout works workshop workspace world worries worth would wow wrap wrapper wrapping write writes
writing written wrong wrote www xml yeah year years yes yesterday yet yield yoga you young younger
your yourself zero zeros zip
"""
