import { FieldName } from '../field-name.tsx'
import { VisibleText } from '../visible-text.tsx'

/** The maximum number of rows and columns of a list that is shown as a table; larger lists are shown as JSON. */
const MOST_ROWS = 200
const MOST_COLUMNS = 6

/** The input or output of a tool: an object field by field, texts unchanged, lists as tables, everything else as JSON. */
export function Values ({ value }: { value: unknown }) {
  if (!isRecord(value) || Object.keys(value).length === 0) return <Value value={value} />
  return (
    <dl className='call-values'>
      {Object.entries(value).filter(([name]) => name !== 'digest').map(([name, field]) => (
        <div key={name}>
          <dt><FieldName name={name} /></dt>
          <dd><Value value={field} /></dd>
        </div>
      ))}
    </dl>
  )
}

/** One value. A text is cut after `limit` characters, with a button that shows all of it. */
export function Value ({ value, limit }: { value: unknown, limit?: number }) {
  const columns = columnsOf(value)
  if (columns !== undefined) return <Table rows={value as Flat[]} columns={columns} />
  const text = isLines(value) ? value.join('\n') : typeof value === 'string' ? value : asJson(value)
  return <pre><VisibleText text={text} limit={limit} /></pre>
}

type Flat = Record<string, string | number | boolean | null>

function Table ({ rows, columns }: { rows: Flat[], columns: string[] }) {
  return (
    <div className='call-table'>
      <table>
        <thead><tr>{columns.map((name) => <th key={name} scope='col'><FieldName name={name} /></th>)}</tr></thead>
        <tbody>
          {rows.map((row, at) => (
            <tr key={at}>
              {columns.map((name) => <td key={name} className='mono'><VisibleText text={String(row[name] ?? '')} /></td>)}
            </tr>
          ))}
        </tbody>
      </table>
    </div>
  )
}

/** Returns the columns of a short list of objects that hold only strings, numbers and booleans; undefined for other values. */
function columnsOf (value: unknown): string[] | undefined {
  if (!Array.isArray(value) || value.length === 0 || value.length > MOST_ROWS) return undefined
  if (!value.every(isFlat)) return undefined
  const columns = [...new Set(value.flatMap((row) => Object.keys(row)))]
  return columns.length > 0 && columns.length <= MOST_COLUMNS ? columns : undefined
}

const isFlat = (row: unknown): row is Flat =>
  isRecord(row) && Object.values(row).every((field) => typeof field !== 'object' || field === null)

const isLines = (value: unknown): value is string[] =>
  Array.isArray(value) && value.length > 0 && value.every((line) => typeof line === 'string' && !line.includes('\n'))

const asJson = (value: unknown): string => JSON.stringify(value, undefined, 2) ?? ''

export const isRecord = (value: unknown): value is Record<string, unknown> =>
  typeof value === 'object' && value !== null && !Array.isArray(value)
