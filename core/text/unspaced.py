"""Terms of scripts that no stemmer serves: pairs of neighbouring signs, in Chinese, Korean, Thai and its neighbours.

No dictionary has to know a word for it to be found, and a question is cut as its passage is.
"""

from __future__ import annotations

import re
from collections.abc import Sequence
from itertools import pairwise

from core.text.function_words import CHINESE, KOREAN, THAI

SIGNS = "\u0e01-\u0e3a\u0e40-\u0e4e\u0e81-\u0ece\u0edc-\u0edf\u1000-\u103f\u104e-\u109f\u1780-\u17d3\u17dc\u17dd"
"""Thai, Lao, Burmese and Khmer, which write no blanks between words."""
HANGUL = "\u1100-\u11ff\uac00-\ud7a3"

_CLUSTER = re.compile(
    "[\u0e40-\u0e44\u0ec0-\u0ec4]?[^\u0e31\u0e34-\u0e3a\u0e47-\u0e4e\u0eb1\u0eb4-\u0ebc\u0ec8-\u0ecd]"
    "[\u0e31\u0e34-\u0e3a\u0e47-\u0e4e\u0eb1\u0eb4-\u0ebc\u0ec8-\u0ecd\u102b-\u103e\u17b4-\u17d3]*[\u0e30\u0e32\u0e45]?"
)
_CHINESE_SAYS = re.compile("|".join(CHINESE))
_THAI_SAYS = re.compile("|".join(THAI))
_THAI = re.compile(f"[{SIGNS}]")


def chinese(run: str) -> tuple[str, ...]:
    """Return the terms of a run of Chinese: the pairs of its signs, as simplified writing has them."""
    plain = simplified(run)
    return tuple(f"zh~{term}" for term in _pairs(plain) or (plain,))


def chinese_asked(run: str) -> tuple[str, ...]:
    """Return what a run of a Chinese question asks for: pairs of its signs without the question words."""
    found = [pair for piece in _CHINESE_SAYS.split(run) if piece for pair in _pairs(simplified(piece)) or (piece,)]
    return tuple(f"zh~{pair}" for pair in dict.fromkeys(found))


def simplified(text: str) -> str:
    """Return Chinese as simplified writing has it, sign by sign."""
    return text.translate(_TO_SIMPLIFIED)


def hangul(run: str) -> tuple[str, ...]:
    """Return the terms of a Korean word with its particles: its syllables' pairs, and the first by itself."""
    return (run[0], *_pairs(run)) if len(run) > 1 else (run,)


def is_korean_stop(run: str) -> bool:
    """Tell whether a Korean word is one that a question does not ask for."""
    return run in KOREAN


def clusters(run: str) -> tuple[str, ...]:
    """Return the terms of a run without blanks: the pairs of its clusters, consonants with the marks around them."""
    return _pairs(_CLUSTER.findall(run)) or (run,)


def clusters_asked(run: str) -> tuple[str, ...]:
    """Return what a run of a question asks for, without its question words."""
    return tuple(dict.fromkeys(pair for piece in _THAI_SAYS.split(run) if piece for pair in clusters(piece)))


def words_asked(run: str) -> list[str]:
    """Return what is left of a run of a question between its question words."""
    said = _THAI_SAYS if _THAI.match(run) else _CHINESE_SAYS
    return [piece for piece in said.split(run) if piece]


def _pairs(signs: Sequence[str]) -> tuple[str, ...]:
    return tuple(first + second for first, second in pairwise(signs))


_TRADITIONAL = (
    "萬与醜專業叢東絲丟兩嚴喪個豐臨為麗舉麼義烏樂喬習鄉書買亂爭於虧雲亞產畝親褻億僅從侖倉儀們價眾優會傴傘"
    "偉傳傷倫偽佇體餘傭僉俠侶僥偵側僑儈儂俁儔儼倆儷儉債傾僂償兒兌黨蘭關興養獸內岡冊寫軍農馮沖決況凍淨涼減"
    "湊凜幾鳳處憑凱擊鑿劃劉則剛創刪別剎劑剮劍劇勸辦務動勵勁勞勢勳勻匱區醫華協單賣盧滷臥衛卻廠廳歷厲壓厭廁"
    "廂廈廚縣參雙發變敘疊葉號嘆嘰嚇嗎啟吳吶嘔員嗆聽嗚詠嚨嚀響啞嘩喚嘖嗇囉嘯噴嘮園囪圍國圖圓聖場壞塊堅壇壩"
    "墳墜壟壘墾墊埡塏塹墮牆壯聲殼壺備複夠頭誇夾奪奮獎奧妝婦媽嫵姍姜婁婭嬌孌娛媧嫻嬰嬸孫學孿寧寶實寵審憲宮"
    "寬賓寢對尋導壽將爾塵嘗堯屍盡層屜屆屬屢嶼歲豈嶇崗島嶺嶽峽嶄巒鞏幣帥師帳簾幟帶幀幫幹並廣莊慶廬庫應廟龐"
    "廢開異棄張彌彎彈強歸當錄徹徑徠憶懺憂懷態慫憐總戀懇惡慟懨愷惻惱懸慳慣慘懲憊愜慚憚慮憤願懶戲戰戶撲執擴"
    "掃揚擾撫拋摶掄搶護報擔擬攏揀擁攔擰撥擇掛摯擠揮撈損撿換搗據擄摑擲摟攪攜攝擺搖攤撐攆敵斂數齋斬斷無舊時"
    "曠曇晝顯晉曬曉暈暉暫曖術樸機殺雜權條來楊極構樞棗櫪槍楓檸檉標棧棟欄樹棲樣欒檔橋樺槳樁夢檢櫃櫻橫櫥歡歐"
    "殲歿殤殘殞殯毀畢斃氈氣氫漢湯洶溝沒淪滄渾瀉潑澤潔灑窪淺漿澆濁測濟渾濃塗濤澇淚潤澗漲澀淵漬漸漁瀋滲溫灣"
    "濕潰濺滾滯灘濾濫濱潛瀾滅燈靈災爐燉煒點煉爍爛燭煙煩燒燁燙燼熱煥愛爺牘牽犧狀獷猶獰獨狹獅獄獵獻瑪環現瑣"
    "瓏瓊電畫暢療瘋癢癱瘡癮皺盞鹽監蓋盜盤眯著瞞矯礦碼磚硯礎碩確禮禍禪離種積稱穩窮竊竅窯竄窩競篤筆筍築篩箏"
    "籌簽簡籃籬類糧糾紅紂約級紀紋納縱紛紙紡線練組細織終絆經綁絨結繞繪給絡絕統絹繼績緒續綺維綿綱網綠緊緣編"
    "緬緩緯縮繳罷羅罰職聯聰肅腸膚腎腫脹脅膽勝朧腳脫臉膠膩艦艙艱艷藝節蘆蘇蘋莖薦蕩榮藥蓮獲瑩營蕭薩蔣藍蘿虜"
    "慮蟲雖蝦蝕蟻螞蠶蠻補襯襲裝裡襪見觀規覓視覽覺觸譽計訂認譏討讓訓議訊記講許論訟設訪證評識詐訴診詞試詩誠"
    "話誕詢該詳誡誣語誤誘說請諸諾讀誰課調諒談謀諜謊諧謂諮謙謎謝謠譜譴譯讚豬貓貝貞負貢財責賢敗貨質販貪貧購"
    "貯貫賤貼貴貸貿費賀賊賄資賈賦賭贖賞賜賠賴賺賽贊贈贏趙趕躍跡踐蹤車軌軒轉輪軟轟輕載轎較輔輛輩輝輯輸轄轅"
    "轍辭辯邊遼達遷過邁運還這進遠違連遲邇適選遜遞邏遺鄧鄭鄰醬釀釋針釘釣鈣鈍鈔鋼鈉鑰欽鉤鈕鉛鐵鈴鉗銅鋁銘銀"
    "鋪鏈銷鎖鋒銳錯錨錫鑼錘錦鍵鋸鍋鍛鎮鏡鐘鑄鑽長門閃閉問闖閒間悶閘鬧聞閱闊闡闢隊陽陰陣階際陸陳險隨隱隸難"
    "雛雞霧靜韓韻頁頂項順須頑顧頓頒預領頗頸頻題額顏顛風飄飛饑飯飲飾飽餅餓館饅馬馭馱馴馳驅駁驢駕駐駛駱罵驕"
    "驗騎騙驚騷骯髏鬆鬥魚魯鮮鯉鯨鳥鳴鴨鴻鵝鷹麥黃齊齒龍龜臺颱鐵鍾係範於製鬱鬚錶麵後復裏乾薑曆誌徵"
)
_SIMPLIFIED = (
    "万与丑专业丛东丝丢两严丧个丰临为丽举么义乌乐乔习乡书买乱争于亏云亚产亩亲亵亿仅从仑仓仪们价众优会伛伞"
    "伟传伤伦伪伫体余佣佥侠侣侥侦侧侨侩侬俣俦俨俩俪俭债倾偻偿儿兑党兰关兴养兽内冈册写军农冯冲决况冻净凉减"
    "凑凛几凤处凭凯击凿划刘则刚创删别刹剂剐剑剧劝办务动励劲劳势勋匀匮区医华协单卖卢卤卧卫却厂厅历厉压厌厕"
    "厢厦厨县参双发变叙叠叶号叹叽吓吗启吴呐呕员呛听呜咏咙咛响哑哗唤啧啬啰啸喷唠园囱围国图圆圣场坏块坚坛坝"
    "坟坠垄垒垦垫垭垲堑堕墙壮声壳壶备复够头夸夹夺奋奖奥妆妇妈妩姗姜娄娅娇娈娱娲娴婴婶孙学孪宁宝实宠审宪宫"
    "宽宾寝对寻导寿将尔尘尝尧尸尽层屉届属屡屿岁岂岖岗岛岭岳峡崭峦巩币帅师帐帘帜带帧帮干并广庄庆庐库应庙庞"
    "废开异弃张弥弯弹强归当录彻径徕忆忏忧怀态怂怜总恋恳恶恸恹恺恻恼悬悭惯惨惩惫惬惭惮虑愤愿懒戏战户扑执扩"
    "扫扬扰抚抛抟抡抢护报担拟拢拣拥拦拧拨择挂挚挤挥捞损捡换捣据掳掴掷搂搅携摄摆摇摊撑撵敌敛数斋斩断无旧时"
    "旷昙昼显晋晒晓晕晖暂暧术朴机杀杂权条来杨极构枢枣枥枪枫柠柽标栈栋栏树栖样栾档桥桦桨桩梦检柜樱横橱欢欧"
    "歼殁殇残殒殡毁毕毙毡气氢汉汤汹沟没沦沧浑泻泼泽洁洒洼浅浆浇浊测济浑浓涂涛涝泪润涧涨涩渊渍渐渔沈渗温湾"
    "湿溃溅滚滞滩滤滥滨潜澜灭灯灵灾炉炖炜点炼烁烂烛烟烦烧烨烫烬热焕爱爷牍牵牺状犷犹狞独狭狮狱猎献玛环现琐"
    "珑琼电画畅疗疯痒瘫疮瘾皱盏盐监盖盗盘眯着瞒矫矿码砖砚础硕确礼祸禅离种积称稳穷窃窍窑窜窝竞笃笔笋筑筛筝"
    "筹签简篮篱类粮纠红纣约级纪纹纳纵纷纸纺线练组细织终绊经绑绒结绕绘给络绝统绢继绩绪续绮维绵纲网绿紧缘编"
    "缅缓纬缩缴罢罗罚职联聪肃肠肤肾肿胀胁胆胜胧脚脱脸胶腻舰舱艰艳艺节芦苏苹茎荐荡荣药莲获莹营萧萨蒋蓝萝虏"
    "虑虫虽虾蚀蚁蚂蚕蛮补衬袭装里袜见观规觅视览觉触誉计订认讥讨让训议讯记讲许论讼设访证评识诈诉诊词试诗诚"
    "话诞询该详诫诬语误诱说请诸诺读谁课调谅谈谋谍谎谐谓咨谦谜谢谣谱谴译赞猪猫贝贞负贡财责贤败货质贩贪贫购"
    "贮贯贱贴贵贷贸费贺贼贿资贾赋赌赎赏赐赔赖赚赛赞赠赢赵赶跃迹践踪车轨轩转轮软轰轻载轿较辅辆辈辉辑输辖辕"
    "辙辞辩边辽达迁过迈运还这进远违连迟迩适选逊递逻遗邓郑邻酱酿释针钉钓钙钝钞钢钠钥钦钩钮铅铁铃钳铜铝铭银"
    "铺链销锁锋锐错锚锡锣锤锦键锯锅锻镇镜钟铸钻长门闪闭问闯闲间闷闸闹闻阅阔阐辟队阳阴阵阶际陆陈险随隐隶难"
    "雏鸡雾静韩韵页顶项顺须顽顾顿颁预领颇颈频题额颜颠风飘飞饥饭饮饰饱饼饿馆馒马驭驮驯驰驱驳驴驾驻驶骆骂骄"
    "验骑骗惊骚肮髅松斗鱼鲁鲜鲤鲸鸟鸣鸭鸿鹅鹰麦黄齐齿龙龟台台铁钟系范于制郁须表面后复里干姜历志征"
)
_TO_SIMPLIFIED = str.maketrans(_TRADITIONAL, _SIMPLIFIED)
