import { useMemo } from 'react'
import { useDraft } from '../../lib/draft.ts'
import type { FormValues } from './form-values.ts'

/** The fields of a form, which survive a reload until they are saved. `set` changes some of them. */
export function useForm (key: string, begin: FormValues) {
  const [draft, setDraft] = useDraft(key)
  const values = useMemo((): FormValues => draft === '' ? begin : { ...begin, ...JSON.parse(draft) }, [draft, begin])
  return {
    values,
    set: (some: Partial<FormValues>) => setDraft(JSON.stringify({ ...values, ...some })),
    clear: () => setDraft('')
  }
}
