/** Texts that models write where they have nothing to say, folded. */
const FILLERS = new Set([
  'n/a', 'na', 'n.a', 'none', 'null', 'nil', 'undefined', 'unknown', 'string', 'text', 'value', 'object', 'array', 'list', 'number',
  'integer', 'boolean', 'tbd', 'todo', 'not applicable', 'not specified', 'unspecified', 'not provided', 'not mentioned', 'not available',
  'not given', 'not stated', 'not known', 'not set', 'no value', 'no data', 'empty', 'empty string', 'blank', 'nothing', 'placeholder',
  'example', 'default', 'null value', 'none specified', 'none given', 'none mentioned', 'none provided', 'no information', 'lorem ipsum',
  'keine', 'keiner', 'kein', 'nichts', 'unbekannt', 'nicht angegeben', 'nicht zutreffend', 'entfällt', 'k.a', 'keine angabe',
  'ninguno', 'ninguna', 'nada', 'desconocido', 'no aplica', 'no especificado', 'sin especificar',
  'aucun', 'aucune', 'rien', 'inconnu', 'non spécifié', 'sans objet', 'néant',
  'nessuno', 'nessuna', 'niente', 'sconosciuto', 'non specificato', 'nenhum', 'nenhuma', 'desconhecido', 'não especificado',
  'geen', 'niets', 'onbekend', 'brak', 'нет', 'неизвестно', 'не указано', 'ничего', 'yok', 'bilinmiyor', 'belirtilmemiş',
  'なし', '無し', '特になし', '不明', '該当なし', '未指定', '無', '无', '沒有', '没有', '未知', '不适用', '不適用', '空', '없음', '해당 없음', '알 수 없음',
  'لا يوجد', 'غير محدد', 'غير معروف', 'कोई नहीं', 'अज्ञात', 'ללא', 'אין'
].map((word) => word.normalize('NFKC')))

/** Tokens of chat templates, which a model writes as text if its template is wrong. */
const TEMPLATE_TOKENS = /<\|[^|<>]{0,40}\|>|<\/?(?:s|bos|eos|pad|unk|start_of_turn|end_of_turn)>|\[\/?INST\]|<<\/?SYS>>/gi

/** Returns a text without tokens of chat templates, trimmed. */
export const withoutTemplateTokens = (text: string): string => text.replace(TEMPLATE_TOKENS, '').trim()

/** Folds a text for comparison: case, widths, blanks and surrounding marks do not count. */
export const foldAdvice = (text: string): string =>
  text.normalize('NFKC').toLowerCase().replace(/\s+/g, ' ')
    .replace(/^[^\p{L}\p{N}]+|[^\p{L}\p{N}\p{M}]+$/gu, '')

/** True if a text says nothing: a filler such as "N/A" or "none", only marks, or tokens of a chat template. */
export function isFiller (text: string): boolean {
  const folded = foldAdvice(withoutTemplateTokens(text))
  return folded === '' || FILLERS.has(folded)
}
