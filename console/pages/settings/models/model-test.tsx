import { plainWords } from '../../../lib/plain-words.ts'
import { say } from '../../../lib/say.ts'
import { sayDuration } from '../../../lib/time.ts'
import { Button } from '../../../parts/button.tsx'
import { Failed } from '../../../parts/failed.tsx'
import { useModelTest } from '../../../parts/models/model-queries.ts'

/** A button that makes one small call of a model, and what came of it. */
export function ModelTest ({ model }: { model: string }) {
  const test = useModelTest()
  const result = test.data
  return (
    <>
      <Button isBusy={test.isPending} onClick={() => test.mutate(model.trim())}>
        {say(test.isPending ? 'settings.testing' : 'settings.test')}
      </Button>
      <div role='status' className='model-test'>
        {test.error !== null && <Failed error={test.error} />}
        {result !== undefined && (
          <p className={`note note-${result.ok ? 'good' : 'bad'}`}>
            {result.ok
              ? say('settings.testOk', { model: result.model, time: sayDuration(result.latencyMs) })
              : say('settings.testFailed', { model: result.model, error: plainWords(result.error ?? '') })}
          </p>
        )}
      </div>
    </>
  )
}
