"""The little words of languages: they tell those in Latin letters apart, and a question does not ask for them."""

from __future__ import annotations


def _words(lines: str) -> tuple[str, ...]:
    return tuple(lines.split())


_LINES = {
    "en": """
        a an the and or but nor not no so than as if because although while until before after i me my we us our you
        your he him his she her hers it its they them their this that these those there such some any both each only
        other same all most more very just also too is am are was were be been being do does did done have has had
        can could may might must shall should will would of at by for with about between into during to from up in
        out on off over under through what which who whom whose when where why how much many tell give find
    """,
    "de": """
        der die das den dem des ein eine einer eines einem einen kein keine keiner und oder aber nicht auch nur noch
        schon sehr ist sind war waren wird werden wurde wurden worden hat haben hatte hatten sein seine seiner
        seinen ihr ihre ihrer ihrem ihren ich du er sie es wir uns mich mir dich dir sich man mein dein unser von
        vom zu zum zur mit bei beim nach aus auf an am im in ins für über unter vor durch gegen ohne um bis seit
        während zwischen wegen als wie wenn dass daß ob weil denn da so dann doch dort hier was wer wem wen wessen
        wann wo woher wohin warum wieso weshalb wozu womit welche welcher welches welchen welchem wieviel viel viele
        kann können konnte muss müssen soll sollen darf dürfen will wollen möchte dieser diese dieses diesem diesen
        jeder jede jedes alle allem allen etwa gibt lange
    """,
    "fr": """
        le la les un une des du de et ou mais ne pas non plus aussi que qu qui quoi dont où quand comment pourquoi
        combien quel quelle quels quelles lequel laquelle est sont était étaient sera seront été être a ont avait
        avaient avoir ai as au aux à en dans sur sous par pour avec sans entre vers chez depuis pendant avant après
        contre ce cet cette ces se son sa ses leur leurs mon ma mes ton ta tes notre nos votre vos je tu il elle on
        nous vous ils elles lui y me te moi si comme donc car ainsi très tout toute tous toutes même fait faire peut
        peuvent doit doivent faut lors jusqu qu'est-ce
    """,
    "es": """
        el la los las un una unos unas de del y e o u pero no ni que qué quien quién quienes quiénes cual cuál
        cuales cuáles como cómo cuando cuándo donde dónde adónde cuanto cuánto cuánta cuántos cuántas por porque
        para con sin sobre entre hasta desde hacia según durante contra en a al se su sus mi mis tu tus nuestro
        nuestra lo le les me te nos yo él ella ellos ellas usted ustedes este esta esto estos estas ese esa eso esos
        esas aquel aquella es son era eran fue fueron ser será sido está están estaba estar ha han había haber hay
        tiene tienen tener más muy también ya si sí todo toda todos todas puede pueden debe deben hace hacer cada
        otro otra
    """,
    "it": """
        il lo la i gli le un uno una di del dello della dei degli delle e ed o ma non né che chi cui quale quali
        quanto quanta quanti quante quando come dove perché cosa per con senza su sul sullo sulla sui sulle tra fra
        da dal dallo dalla dai dalle in nel nello nella nei nelle a al allo alla ai agli alle si se ci ne mi ti vi
        suo sua suoi sue mio mia tuo nostro vostro loro io tu lui lei noi voi essi questo questa questi queste
        quello quella quelli quelle è sono era erano fu furono essere sarà stato stata stati state ha hanno aveva
        avere ho più molto anche già solo ogni tutto tutti può possono deve devono fa fare viene vengono
    """,
    "pt": """
        o a os as um uma uns umas de do da dos das e ou mas não nem que quem qual quais como quando onde aonde
        quanto quanta quantos quantas por pelo pela pelos pelas porque porquê para com sem sob sobre entre até desde
        durante contra em no na nos nas num numa ao aos à às se seu sua seus suas meu minha teu tua nosso nossa lhe
        lhes me te eu tu ele ela nós vós eles elas você vocês este esta isto estes estas esse essa isso esses essas
        aquele aquela é são era eram foi foram ser será sido está estão estava estar há havia ter tem têm tinha mais
        muito também já só todo toda todos todas pode podem deve devem faz fazer cada outro outra
    """,
    "ca": """
        el la els les un una uns unes de del dels d i o però no ni que què qui qual quals com quan on quant quanta
        quants quantes per pel pels perquè amb sense sobre entre fins des durant contra en a al als es se seu seva
        seus seves meu meva teu nostre nostra ho hi li em et ens jo ell ella nosaltres ells elles aquest aquesta
        aquests aquestes aquell aquella això és són era eren va van ser serà estat està estan hi ha han havia haver
        té tenen més molt també ja si tot tota tots totes pot poden ha fa fer cada altre altra
    """,
    "nl": """
        de het een en of maar niet geen ook nog al zeer is zijn was waren wordt worden werd werden geworden heeft
        hebben had hadden ik jij je hij zij ze wij we jullie u mij me hem haar ons hun hen mijn jouw zijn uw onze
        van voor met bij naar uit op aan in te tot door over onder tegen zonder om sinds tijdens tussen wegens als
        dan toen wanneer dat die dit deze er hier daar wat wie wiens waar waarom waarvan waarin waarmee waaraan hoe
        hoeveel welk welke kan kunnen kon moet moeten mag mogen zal zullen wil willen want omdat zodat alle elk elke
        iedere veel meer men zich staat lang
    """,
    "sv": """
        den det de en ett och eller men inte ej också bara ännu mycket är var vara varit blir blev bli blivit har
        hade ha jag du han hon vi ni man mig dig honom henne oss er dem sig min mitt mina din ditt sin sitt sina vår
        vårt våra deras hans hennes dess av för med vid till från på i ur om under över mellan mot utan efter före
        innan sedan genom som när då där här att så än vad vem vems vilken vilket vilka hur varför varifrån vart
        många mycket kan kunde ska skall skulle måste får fick vill ville denna detta dessa alla allt varje någon
        något några ingen inget inga finns gör
    """,
    "da": """
        den det de en et og eller men ikke også kun endnu meget er var være været bliver blev blive blevet har havde
        have jeg du han hun vi i man mig dig ham hende os jer dem sig min mit mine din dit sin sit sine vores deres
        hans hendes dens dets af for med ved til fra på om under over mellem mod uden efter før siden gennem som når
        da der her at så end hvad hvem hvis hvilken hvilket hvilke hvor hvordan hvorfor hvornår hvorfra hvorhen
        mange meget kan kunne skal skulle må måtte vil ville denne dette disse alle alt hver nogen noget nogle ingen
        intet findes gør
    """,
    "no": """
        den det de en et ei og eller men ikke også bare ennå veldig er var være vært blir ble bli blitt har hadde ha
        jeg du han hun vi dere man meg deg ham henne oss dem seg min mitt mine din ditt sin sitt sine vår vårt våre
        deres hans hennes dens dets av for med ved til fra på i om under over mellom mot uten etter før siden
        gjennom som når da der her at så enn hva hvem hvilken hvilket hvilke hvor hvordan hvorfor hvorfra hvorhen
        mange mye kan kunne skal skulle må måtte vil ville denne dette disse alle alt hver noen noe ingen intet
        finnes gjør
    """,
    "fi": """
        ja tai vai mutta ei eivät ole en et emme ette on ovat oli olivat olla ollut olleet olisi minä sinä hän me te
        he se ne tämä tuo nämä nuo minun sinun hänen meidän teidän heidän sen niiden tämän joka jotka jonka joiden
        jossa josta johon jolla jolle mikä mitä minkä missä mistä mihin millä miltä mille millainen kuka ketkä kenen
        ketä kuinka miten milloin miksi moni monta paljonko kun jos että koska kuin niin myös vain vielä jo hyvin
        sekä eli kanssa ilman ennen jälkeen aikana mukaan välillä kautta vuonna voi voivat voidaan pitää täytyy
        tulee saa kaikki joku jokin sitten siitä siinä sitä
    """,
    "hu": """
        a az egy és vagy de nem se sem is csak még már nagyon van vannak volt voltak lesz lenne lett én te ő mi ti
        ők engem téged őt minket őket ez azok ezek ezt azt ennek annak ebben abban erre arra ami amely amelyek
        amelyet aki akik hogy ha mert mint mit mikor hol hová honnan miért hogyan hány mennyi mennyire milyen melyik
        ki kinek kit között alatt felett előtt után óta által szerint nélkül miatt mellett számára során meg el fel
        le ki be össze át minden több legtöbb kell lehet tud fog volna pedig illetve valamint úgy így itt ott
    """,
    "ro": """
        un o unei unui unor al ai ale cel cea cei cele și si sau dar nu nici mai foarte este e sunt era erau fi fost
        fiind va vor are au avea avut am ai a eu tu el ea noi voi ei ele îl îi le îmi își se său sa săi sale meu mea
        nostru lor lui acest această acestui acestei aceste acești acel acea acele de din la în pe cu fără pentru
        prin despre între spre până după înainte sub peste contra către care ce cine cui când unde cum cât câtă câți
        câte ca că dacă deoarece pentru fiecare toate toți tot poate pot trebuie face fac
    """,
    "tr": """
        ve veya ya da de ki mi mı mu mü ile için gibi kadar göre sonra önce beri karşı doğru üzerinde altında
        arasında içinde bir bu şu o bunlar şunlar onlar ben sen biz siz onun bunun benim senin bizim sizin onların
        ne kim kimin kime neden niçin niye nasıl nerede nereye nereden nere hangi hangisi kaç kaçta kaçıncı değil
        yok var olan olarak olduğu olur oldu olmak olması idi ise ama fakat ancak çünkü eğer çok daha en her hiç
        bazı tüm bütün diğer tarafından zaman dır dir mıdır midir mudur müdür nedir kimdir edilir yapılır
    """,
    "pl": """
        i a oraz lub albo ale nie ani że żeby aby jest są był była było były być będzie będą został została zostało
        zostały ma mają miał miała ja ty on ona ono my wy oni one mnie ciebie jego jej nim ich im mu go ją się sobie
        mój moja twój swój swoje nasz ten ta to ci te tego tej tych temu tym tamten który która które których którym
        którego której w we na z ze do od dla o po przy przez pod nad przed za bez między wśród podczas u jak jako
        gdy kiedy gdzie skąd dokąd dlaczego czemu czy co kto kogo komu czego jaki jaka jakie jakim jakiej ile ilu
        tak już tylko także też bardzo może można mogą musi każdy wszystkie lat
    """,
    "cs": """
        a i nebo ale ne ani že aby je jsou byl byla bylo byly být bude budou má mají měl měla já ty on ona ono my vy
        oni mě tebe jeho její jejich jim mu ho ji se si můj tvůj svůj náš ten ta to ti ty té toho těch tomu tím
        který která které kteří kterých kterým kterého v ve na z ze do od pro o po při přes pod nad před za bez mezi
        během u jak jako když kdy kde odkud kam proč co kdo koho komu čeho čím jaký jaká jaké jakým kolik tak již už
        jen pouze také velmi může mohou musí lze každý všechny všech než až podle
    """,
    "id": """
        dan atau tetapi tidak bukan yang di ke dari pada untuk dengan oleh dalam antara sampai sejak selama tanpa
        tentang terhadap adalah ialah merupakan ini itu tersebut saya kamu anda dia ia kami kita mereka nya apa
        siapa kapan mana dimana bagaimana mengapa kenapa berapa apakah akan sudah telah sedang masih juga hanya
        sangat lebih paling dapat bisa harus boleh ada setiap semua para sebuah seorang suatu karena jika bila
        ketika agar sebagai seperti
    """,
}  # fmt: skip

FUNCTION_WORDS = {language: frozenset(_words(lines)) for language, lines in _LINES.items()}
LATIN = tuple(language for language in FUNCTION_WORDS if language != "en")
"""The languages in Latin letters, besides English, whose words are stemmed by their own rules."""

LETTERS = {
    "de": "äöüß",
    "fr": "àâçèéêëîïôùûœ",
    "es": "áéíóúñ¿¡",
    "it": "àèéìòù",
    "pt": "áâãàçéêíóôõú",
    "ca": "àçèéíïòóúü·",
    "nl": "éëïö",
    "sv": "åäö",
    "da": "æøå",
    "no": "æøå",
    "fi": "äö",
    "hu": "áéíóöőúüű",
    "ro": "ăâîșțşţ",
    "tr": "çğıöşü",
    "pl": "ąćęłńóśźż",
    "cs": "áčďéěíňóřšťúůýž",
}
"""Letters beyond ASCII that the words of a language hold."""

RUSSIAN = frozenset(
    _words("""
    и или но а не ни же бы ли что чтобы как так где когда куда откуда почему зачем сколько какой какая какое какие
    каком какого какую каким который которая которое которые кто кого кому кем чем чего чему в во на с со к ко по от
    до из за для о об у при над под перед без между через после во это этот эта эти этого этой этом тот та те того
    то он она оно они его её ее их им ему ей ими мы нас нам вы вас вам я меня мне ты свой своя свои его есть был
    была было были быть будет будут является также уже только ещё еще очень может можно нужно чей лет
    """)
)
GREEK = frozenset(
    _words("""
    ο η το οι τα του της των τον την τις τους στο στη στην στον στα στις και ή αλλά δεν μη να θα που πού πώς πως
    πότε ποιος ποια ποιο ποιοι ποιες τι γιατί πόσο πόση πόσοι πόσες πόσα με από για σε κατά μετά πριν μέχρι χωρίς
    είναι ήταν έχει έχουν είχε αυτό αυτή αυτός ένα ένας μια μία
    """)
)
KOREAN = frozenset(
    _words("""
    무엇 무엇입니까 무엇인가 무엇인가요 무엇을 무엇이 무엇으로 뭐 뭐야 뭔가요 누구 누구입니까 누구인가요 누가 누구의
    누구를 언제 언제입니까 언제인가요 언제부터 언제까지 어디 어디입니까 어디인가요 어디에 어디에서 어디서 어느 어떤
    어떻게 얼마 얼마나 얼마입니까 얼마인가요 몇 왜 및 그리고 또는 또한 있습니까 있나요 합니까 하나요 됩니까 되나요
    입니까 인가요 수 것 등 이 그 저 대해 대한 알려 주세요 알려주세요 있는 하는 되는
    """)
)
CHINESE = _words(
    "什么时候 什麼時候 为什么 為什麼 哪一年 哪一个 哪一個 多少 什么 什麼 怎么样 怎麼樣 怎么 怎麼 怎样 怎樣 "
    "如何 哪里 哪裡 哪儿 哪兒 哪些 哪个 哪個 哪年 哪 谁 誰 几个 幾個 几 幾 吗 嗎 呢 吧 的 了 是 在 和 与 "
    "與 及 或 请问 請問 请 請 有多 多久 何时 何時 何 于 於 被 由"
)
"""What a Chinese question says besides what it asks for, longer ones before those that they hold."""
THAI = _words(
    "เท่าไหร่ เท่าไร เมื่อไหร่ เมื่อไร อย่างไร ที่ไหน อะไร ทำไม ไหน ใคร กี่ หรือไม่ บ้าง คือ และ หรือ ของ ที่ ใน เป็น ได้ ให้ จาก ว่า ครับ ค่ะ คะ"
)
"""What a Thai question says besides what it asks for."""
