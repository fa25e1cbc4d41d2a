"""Words that say the opposite of each other, words that say the same, and units by their names and signs."""

from __future__ import annotations

from collections.abc import Mapping
from functools import cache

from core.text.analysis import analyse

_AXES = """
    maximum max largest biggest highest longest most greatest uppermost 最大 最高 最長 最多 / minimum min smallest
    lowest shortest least fewest lowermost 最小 最低 最短 最少 | first initially initial 最初 初めて はじめ / last
    finally final 最後 最終 | before prior previously 以前 前 まえ / after afterwards following subsequently 以降
    以後 後 のち あと | more greater higher larger bigger longer 多い 大きい 高い 長い 多く 高く 大きく 長く 大きな
    多数 / less fewer lower smaller shorter 少ない 小さい 低い 短い 少なく 低く 小さく 短く 小さな 少数 | above
    over exceeding upward 以上 超 超える 上回る 上 うえ / below under beneath downward 以下 未満 下回る 下 した |
    increase increased increases increasing rise rose rises rising grow grew grown raise raised 増加 上昇 増える
    増え 拡大 増大 / decrease decreased decreases decreasing fall fell falls falling decline declined drop dropped
    reduce reduced shrink shrank 減少 下降 低下 減る 減り 縮小 削減 | north northern northward 北 北部 北側 / south
    southern southward 南 南部 南側 | east eastern eastward 東 東部 東側 / west western westward 西 西部 西側 |
    northeast northeastern 北東 / southwest southwestern 南西 | northwest northwestern 北西 / southeast
    southeastern 南東 | left 左 左側 / right 右 右側 | early earlier earliest 早い 早く 前半 / late later latest
    遅い 遅く 後半 | upper 上位 上部 上流 / lower 下位 下部 下流 | enable enabled enables enabling on 有効 /
    disable disabled disables disabling off 無効 | include included includes including 含む 含める / exclude
    excluded excludes excluding 除く 除外 | win won wins winning victory 勝利 勝つ 勝ち / lose lost loses losing
    defeat defeated 敗北 敗れる 負ける 負け | allow allowed allows permit permitted permits 許可 / forbid forbidden
    forbids prohibit prohibited prohibits deny denied denies disallow disallowed 禁止 | begin began begins begun
    start started starts open opened 開始 始まる 始まり 始め / end ended ends finish finished stop stopped stops
    close closed 終了 終わる 終わり 停止 | input import imports read reads 入力 読み 読み込み / output export
    exports write writes 出力 書き 書き込み | inside internal inner within 内側 内部 / outside external outer
    beyond 外側 外部 | always 常に いつも / never | all every each 全て すべて / none | oldest older old 最古 古い
    / newest newer new 最新 新しい | best better 最良 / worst worse 最悪 | strong stronger strongest 強い 強く /
    weak weaker weakest 弱い 弱く | cold colder cool 寒い 冷たい / hot hotter warm 暑い 熱い | top 上端 / bottom
    下端 | previous / next | add added adds adding append 追加 加える / remove removed removes removing delete
    deleted 削除 取り除く | ascending 昇順 / descending 降順 | accept accepted accepts 受け入れる 承認 / reject
    rejected rejects refuse 拒否 却下 | optional 任意 / mandatory required compulsory 必須 | with / without |
    possible 可能 / impossible 不可能 | up / down | fast faster fastest quick quickly 速い 速く / slow slower
    slowest slowly 遅い | public 公開 / private 非公開 | local / remote | success successful succeed succeeded 成功
    / failure unsuccessful failed fail 失敗 | near close 近い / far distant 遠い | positive 正 / negative 負 | wide
    wider 広い / narrow narrower 狭い | buy bought buys purchase 購入 買う / sell sold sells 販売 売る | lock
    locked / unlock unlocked | connect connected / disconnect disconnected | import / export | horizontal 水平 /
    vertical 垂直 | major 大部分 / minor | many 数多く / few | parent 親 / child 子 | client / server | male 男性 /
    female 女性 | husband / wife | father 父 / mother 母 | brother / sister | king / queen | son 息子 / daughter 娘
    | true / false | inclusive / exclusive | encrypt / decrypt | upload / download | push / pull | sync / async |
    morning 午前 am / afternoon 午後 pm | winter 冬 / summer 夏 | 直前 / 直後 | 数多い 数多く / 数少ない 数少なく |
    その前 / その後
"""
POLES: dict[str, tuple[str, int]] = {}
"""The axis and the side of a word that has an opposite; the first axis that names a word has it."""
for _axis in " ".join(_AXES.split()).split(" | "):
    _sides = [side.split() for side in _axis.split(" / ")]
    for _side, _words in enumerate(_sides):
        for _word in _words:
            POLES.setdefault(_word, (_sides[0][0], _side))

_SAMENESS = """
    many numerous | also additionally | begin start | use employ utilise utilize | help assist | show display |
    build construct | call name | make produce create | often frequently | allow permit let | receive get obtain |
    important significant | purchase buy | whole entire | different various | film movie | quick rapid fast | job
    work | contain include | specify give | several multiple | large big | kid child | famous well-known wellknown
    | situate locate lie | approximate about roughly around | die pass | need require | choose select | remove
    delete erase | end finish | keep retain | try attempt | change modify | happen occur | find discover | write
    record | 利用 使用 | 実施 行う | 作成 作製 作る | 位置 ある | 開始 スタート | 最も 一番 | 全て すべて | 約
    およそ | 場合 とき | 様々 さまざま | 現在 今 | 非常 とても | また さらに | 設立 創設 | 呼ぶ 称す | 出る 生じる
    | 示す 表す | 述べる 言う | 得る 獲得 | つくる 作る | わかる 分かる
"""


@cache
def same_terms() -> Mapping[str, str]:
    """Return the one term by which words that say the same are compared, for each that has others.

    Made at the first use: the Japanese dictionary that this needs is not loaded at every start.
    """
    same: dict[str, str] = {}
    for group in _SAMENESS.split("|"):
        terms = [term for word in group.split() for term in analyse(word)[:1]]
        for term in terms:
            same.setdefault(term, same.get(terms[0], terms[0]))
    return same


_UNIT_GROUPS = """
    year years yr yrs 年 年間 | month months か月 ヶ月 カ月 ヵ月 ケ月 箇月 | week weeks 週 週間 | day days 日 日間
    | hour hours hr hrs h 時間 | minute minutes min mins 分 分間 | second seconds sec secs s 秒 秒間 | ms
    millisecond milliseconds msec ミリ秒 | decade decades | century centuries 世紀 | m metre metres meter meters
    メートル | km kilometre kilometres kilometer kilometers キロメートル キロ | cm centimetre centimetres
    centimeter centimeters センチ センチメートル | mm millimetre millimetres millimeter millimeters ミリ
    ミリメートル | mile miles mi マイル | foot feet ft フィート | inch inches in. インチ | yard yards | g gram
    grams グラム | kg kilogram kilograms キログラム | t ton tons tonne tonnes トン | lb lbs pound pounds ポンド |
    ounce ounces oz | % percent per-cent パーセント | point points ポイント 点 | 倍 | degree degrees ° 度 | °c | °f
    | byte bytes b バイト | kb kilobyte kilobytes kib | mb megabyte megabytes mib | gb gigabyte gigabytes gib | tb
    | bit bits ビット | yen jpy 円 | dollar dollars usd ドル | euro euros eur ユーロ | cent cents | people persons
    person 人 名 | family families | character characters 文字 | line lines 行 | word words 語 | page pages ページ
    頁 | million | billion | thousand | hundred | 歳 才 | 回 | 台 | 本 | 個 | 件 | 社 | 冊 | 枚 | 位 | 番 | 号 | 種
    種類 | 月 | goal goals | time times | game games | season seasons | hertz hz | watt watts w | v volt volts | 階
    | 頭 | 匹
"""
_UNITS = {word: group.split()[0] for group in _UNIT_GROUPS.split("|") for word in group.split()}


def canonical_unit(word: str) -> str:
    """Return one name for a unit however it is written, nothing for what is none."""
    word = word.lower()
    return _UNITS.get(word) or ("" if word.isascii() else _UNITS.get(word[:1], ""))


_OPPOSITE_SIGNS = """
    前後 上下 左右 東西 南北 大小 長短 高低 多少 内外 増減 有無 最初 始終 開閉 新旧 強弱 入出 男女 勝敗 正負 先後
    早晩 早遅 昼夜 加減 昇降 往復 公私 売買 明暗 可否 父母 兄弟 姉妹 遠近 深浅 軽重 広狭 速遅 古新
"""
_PAIRS = {frozenset(pair) for pair in _OPPOSITE_SIGNS.split()}


def are_opposite_compounds(one: str, other: str) -> bool:
    """Tell whether two Japanese words differ in one sign alone, and by its opposite: 直前 and 直後."""
    if len(one) != len(other) or len(one) < 2 or one.isascii():
        return False
    differing = [frozenset(pair) for pair in zip(one, other, strict=True) if pair[0] != pair[1]]
    return len(differing) == 1 and differing[0] in _PAIRS
