/**
 * Words that stand in sentences about anything, in the languages that most users write: pronouns, articles, prepositions, auxiliary
 * verbs, and the verbs of liking, having, using, remembering and forgetting. Two sentences that share only such words need not be
 * about the same. Words of one or two letters never count.
 */
const LISTS = [
  // English
  'the and but not you your yours she her his him its our they them their this that these those what which who whom whose when where why',
  'how are was were been being have has had does did done can could will would shall should may might must with without from into about',
  'over under than then there here all any some each very just also only now ever never always for page tell says said say know please',
  "want wants need needs like likes liked love loves prefer prefers use uses used get got make makes don don't",
  "forget remember isn't i'm i've i'd it's that's what's longer more anymore anything everything something thing things note keep mind",
  'help give look find show read write open good time today thanks think sure yes one two new way much many most other really again',
  'still back well even people',
  // German
  'gegen der die das den dem des ein eine einen einem einer und oder aber nicht kein keine ich mich mir mein meine meinen meiner dich',
  'dir dein deine sie ihr ihre ihn ihm uns unser wir euch dies diese dieser dieses wer wie wann warum welche welcher ist sind war waren',
  'bin bist sein habe hast hat haben hatte wird werden würde kann kannst können muss soll mit ohne von vom zum zur bei für auf aus über',
  'unter nach vor auch nur noch mehr sehr schon hier dort dass bitte mag magst möchte gern gerne nutze benutze sag',
  'seite vergiss merke',
  // French
  'les une est sont suis été était pas plus que qui quoi quel quelle quels comment pourquoi quand dans pour par sur sous avec sans mais',
  'mon mes ton tes son ses notre nos votre vos leur leurs cette ces cela vous nous elle elles ils moi toi avoir avez avons fait faire',
  'dit aime aimes préfère veux voudrais utilise très aussi tout tous toute oublie oublier souviens rappelle',
  // Spanish
  'los las una unos unas del con sin por para pero qué quién cuál cómo cuándo dónde porque este esta esto estos estas ese esa eso aquel',
  'mis tus sus nuestro nuestra ella ellos ellas usted ustedes soy eres fue era ser estoy está están estar tengo tiene tener hay más muy',
  'gusta gustan prefiero quiero uso dice página olvida olvidar olvides recuerda recordar también todo toda todos nada favor',
  // Portuguese
  'uma umas dos nas com sem mas quem qual como quando onde isto esse essa isso aquele aquela meu minha meus minhas seu sua seus suas',
  'nosso nossa ele ela eles elas você vocês sou são foi estou estão tenho tem ter não muito também tudo gosto gosta prefiro quero',
  'diz esqueça esquece esquecer lembra lembre',
  // Italian
  'gli uno della dello dei delle degli nel nella senza per tra fra che chi cosa quale come dove perché questo questa questi queste',
  'quello quella mio mia miei mie tuo tua suo nostro nostra lui lei loro noi voi sono sei essere stato non più molto anche tutto tutti',
  'piace preferisco voglio pagina dimentica dimenticare ricorda ricordare favore',
  // Dutch
  'het een van voor met zonder maar niet geen dat deze wat waar wanneer hoe waarom mijn jouw zijn haar ons onze hun hij zij wij jullie',
  'jij ben bent heb hebt heeft hebben kan kunt moet wil wilt wordt worden ook nog meer erg heel graag vind hou houd gebruik',
  'zegt vergeet onthoud naar bij door uit alsjeblieft',
  // Swedish, Norwegian, Danish
  'och men inte ikke att som det denna dette detta disse vad hva hvad vem hvem var hvor hur hvordan när når min mitt mine mina din ditt',
  'sitt han hon vår vores deras deres jag jeg dig deg mig meg oss vara har hadde havde hade vil vill skal ska med utan uten för til till',
  'från også också mer mycket meget gillar liker bruger använder sidan siden glöm glem husk vær snäll',
  // Polish, Czech
  'nie jest jestem być był była było mam masz mieć czy kto kogo jak jaki jaka gdzie kiedy dlaczego ten tego tej tym mój moja moje moich',
  'twój twoja jego jej nam dla bez pod nad przed przez oraz ale też tylko już jeszcze lubię wolę chcę używam stronie',
  'strona zapomnij pamiętaj proszę jsem jsou být mám máš kdo kde kdy proč tento tato toto můj tvůj jeho její jejich pro také jen ještě',
  'rád ráda chci používám stránka stránce zapomeň pamatuj prosím',
  // Russian, Ukrainian
  'это этот эта эти этого что кто как где когда почему какой какая мне меня мой моя моё мои моего моей тебя тебе твой твоя его ему она',
  'они оно них наш наша вас вам ваш есть был была было были быть для без при над под про или тоже только уже ещё очень люблю нравится',
  'хочу пользуюсь страница странице забудь запомни пожалуйста цей цього хто який яка мене мені мій моє мої твій його вона',
  'вони воно вже дуже подобається користуюсь сторінка сторінці памʼятай ласка',
  // Turkish
  'bir ile ama için gibi daha çok değil yok sen biz siz onlar benim senin onun bizim bana sana ona beni seni onu kim nasıl neden nerede',
  'hangi olan olarak olur oldu seviyorum severim istiyorum kullanıyorum sayfa sayfada unut hatırla lütfen',
  // Greek
  'και για από στο στη στην στον στα των του της τον την τους τις που πως πώς ποιος ποια ποιο πότε γιατί αυτό αυτός αυτή αυτά μου σου',
  'μας σας είναι είμαι ήταν έχω έχει έχεις δεν μην θέλω αρέσει σελίδα ξέχασε θυμήσου παρακαλώ',
  // Arabic, Hebrew
  'هذا هذه ذلك التي الذي هناك على إلى أنا أنت نحن ماذا متى أين كيف لماذا ليس لدي عندي أحب أفضل أريد أستخدم صفحة انس تذكر فضلك',
  'كان كانت يكون אני אתה אנחנו הוא היא שלי שלך זאת מתי איפה איך למה אין בלי אוהב אוהבת רוצה משתמש הדף תשכח תזכור בבקשה',
  'היה הייתה להיות אבל עוד',
  // Hindi
  'हैं हूँ हूं मैं मुझे मेरा मेरी मेरे तुम आपका क्या कौन कहाँ कैसे क्यों लेकिन नहीं में साथ लिए पसंद चाहता चाहती करता करती',
  'पेज पृष्ठ भूल याद कृपया',
  // Finnish, Hungarian, Romanian
  'olen olet ovat oli minä sinä hän minun sinun tämä mikä kuka missä milloin miksi että mutta kun kuin myös vain käytän pidän sivu',
  'unohda muista hogy nem vagyok volt ami aki hol mikor miért ezt azt ennek engem neked nekem szeretem oldal felejtsd',
  'sunt eram cine unde când cum care acest această acesta mea mei mele tău dar fără pentru îmi place vreau folosesc uită',
  'amintește',
  // Indonesian, Vietnamese
  'yang dan ini itu saya aku kamu anda dia mereka kami kita apa siapa kapan mana bagaimana mengapa tidak bukan ada adalah dengan tanpa',
  'untuk dari pada suka ingin halaman lupakan ingat tolong tôi bạn của này không những với cho trong một các thích muốn',
  'trang quên nhớ hãy',
  // Korean: the first two syllables
  '저는 제가 저의 나는 내가 나의 나를 너는 당신 우리 이것 그것 저것 이거 그거 이건 그건 무엇 뭐가 뭐라 누구 언제 어디 어떻 있어 있습 있는 있다 없어 없습 합니 해요 했어 입니 이에 예요 좋아 싫어 잊어 잊으 기억',
  '해줘 주세 말해 알려 대해 대한 그리 그런 하지 하고 하는 정말 아주 이제 지금 페이',
  // Chinese and Japanese: single characters and pairs
  '我 你 他 她 它 您 是 在 有 不 没 了 的 和 也 都 这 那 个 上 下 里 写 说 请 吗 呢 对 把 什么 这个 那个 这些 那些 怎么 为什 哪里 我们 你们 他们 自己 喜欢 喜歡 知道 可以 没有 因为 所以 但是 现在 忘记 忘掉 记住 私 僕',
  '俺 何 今 人 事 時 中 好 使 書 見 言 思 忘 覚 行 来 食 飲 自分 今日 大好',
  // Thai
  'ฉัน คุณ เขา เรา ของ ที่ และ ไม่ เป็น อยู่ ว่า อะไร นี้ นั้น ได้ ให้ กับ จาก ชอบ ลืม เรื่อง ครับ ค่ะ หน้า เขียน ใคร เมื่อ ทำไม อย่า'
]

export const COMMON_WORDS: ReadonlySet<string> = new Set(LISTS.flatMap((list) => list.split(' ')))
