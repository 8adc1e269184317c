"""The thousand words that most projects use, counted over forty open ones: tokenizers know them whole."""

from __future__ import annotations

WORDS = """
abc able about above absolute accept access according action actions active actual actually add added adding
additional address adds after again against age all allow allowed allows already also alternative always
amount an and another any anything api app append application applied apply appropriate arbitrary are arg
args argument arguments around array arrays as assert associated assume async at atomic attempt attempts
attribute attributes auto automatically available avoid back bad bar base based basic baz be because become
been before begin behavior being below best better between big bin binary bind bit blob block blocks body
bool boolean both bound box branch break buf buffer bug build builder building built but by byte bytes cache
cached call callback called calling calls can cannot case cases cast catch cause cd certain chain change
changed changes char character characters check checked checking checks child children class classes cleanup
clear client close closed closing code codes collect collection color com command comment common compare
compatibility compatible compile compiler complete complex component concurrent condition conditions config
configuration configure configured connect consider considered console const constant construct constructor
contain container containing contains content contents context continue control conversion convert copy
copyright core correct correctly corresponding could count create created creates creating creation current
currently custom data date debug decode default defaults define defined defines definition delete deleted
dependencies dependency deprecated description destination detail details detect determine dev did different
dir direct directly directory disable disabled display do doc docs document documentation does doesn domain
don done double down drop due dummy duplicate duration during dynamic each easy echo effect either element
elements else empty en enable enabled encode encoded encoding end ends enough ensure ensures entire entries
entry enum env environment equal equivalent err error errors escape etc even event events every exact
exactly example examples except exception exec execute executed execution exist existing exists exit expect
expected explicit explicitly export expression extend extension extensions external extra extract fail
failed fails failure fallback false fast feature features fetch field fields file filename files filter
filters final find finished first fix fixed flag flags float flush fn follow following foo for force form
format forward found free from fs full fully func function functionality functions further future general
generate generated generates generic get gets git github given global go good got greater group handle
handled handler handles handling happen has hash have head header headers hello help helper helpers here
hidden higher host how however html http https id identifier if ignore ignored image immediately implement
implementation implemented implements implicit import in include included includes including incorrect index
info information init initial initialize initialized inline inner input insert inside install instance
instances instead int integer interface internal interval into invalid invoke io is isn issue issues it item
items iterator its itself join json just keep key keys kind know known label language large last later
latest lazy least left len length less let level lib library license like limit line lines link list literal
ll load loaded loading local location lock log logic long longer look looks lookup loop lower made main make
makes making manager manually many map mapping mark master match matches matching math max maximum may md
means memory merge message messages meta metadata method methods might min minimum missing mock mode model
modified modify module more most move ms msg much multi multiple must mutable my name named names native
necessary need needed needs nested never new next no node non none normal not note nothing now null num
number numbers obj object objects of off offset ok old on once one only op open operation opt option
optional options or order org origin original os other others otherwise our out output outside over overflow
override overrides own package page pair param parameter parameters params parent parse parsed parser
parsing part partial particular parts pass passed passing patch path paths pattern per perform performance
place plain platform please plus point pointer policy pop port position positive possible post pre prefer
prefix present preserve prevent previous print private problem process processed produce profile project
properly properties property protocol provide provided provides proxy public pull push put query queue
random range rather raw re read reader reading real reason receive received recommended record recursive ref
reference references register registered regular related relative release releases remote remove removed
removes removing replace report representation represents request requested requests require required
requires res reset resolution resolve resource resources response rest result results return returned
returns reverse right root round rules run running runs runtime safe same sample save scope script search
second seconds section security see select selected self send separate separated sequence server service
session set sets setting settings setup shared short should show side similar simple since single size skip
skipped sleep slow small so software some something sort sorted source space span spec special specific
specified specify split src stack standard start started starting starts state static status still stop
storage store stored str stream strict string strings strip struct style sub subject success successfully
such suffix suite summary super support supported supports sure switch sync syntax system table tag tags
take takes target task temp template temporary test testing tests text than that the their them then there
these they third this those thread three through throw throws time timeout times timestamp title tmp to
together token too tools top total trace trailing transform tree trigger true try trying twice two txt type
types undefined under underlying unexpected unique unit unknown unless unsafe unsupported until unused up
update updated upper url us usage use used useful user users uses using utf util utils val valid validate
validation value values var variable variables various verify version versions very via view void wait want
warn warning was way we web well were what when where whether which while whose width will windows with
within without won work working works world would wrapper write writer writes writing written wrong www yet
yield you your zero
"""
