import { FieldName } from '../field-name.tsx'
import { VisibleText } from '../visible-text.tsx'

/** The input or output of a tool: the fields of an object one by one, texts as they are, everything else as JSON. */
export function Values ({ value }: { value: unknown }) {
  if (typeof value === 'string') return <pre><VisibleText text={value} /></pre>
  if (!isRecord(value) || Object.keys(value).length === 0) return <pre><VisibleText text={asJson(value)} /></pre>
  return (
    <dl className='call-values'>
      {Object.entries(value).map(([name, field]) => (
        <div key={name}>
          <dt><FieldName name={name} /></dt>
          <dd><pre><VisibleText text={typeof field === 'string' ? field : asJson(field)} /></pre></dd>
        </div>
      ))}
    </dl>
  )
}

const asJson = (value: unknown): string => JSON.stringify(value, undefined, 2) ?? ''

export const isRecord = (value: unknown): value is Record<string, unknown> =>
  typeof value === 'object' && value !== null && !Array.isArray(value)
