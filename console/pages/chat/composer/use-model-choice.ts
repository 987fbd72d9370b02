import { useMutation, useQueryClient } from '@tanstack/react-query'
import { useState } from 'react'
import { putThread, type RunOptions, type ThreadSettings } from '../../../../client/generated/index.ts'
import { useDraft } from '../../../lib/draft.ts'
import { asked, body } from '../../../lib/service.ts'
import { type ThreadPage, threadPage } from '../thread/thread-page.ts'

/** The user's settings for a conversation; '' is the service's default. */
interface Choice {
  agent: string
  model: string
  effort: string
  /** The working folder. */
  cwd: string
  /** The tools that are switched off: entries of `denyTools`. */
  denied: readonly string[]
  /** 'copy' if runs work on a copy of the folder; else ''. */
  workspace: string
}

/** Returns the settings with the choice applied; other settings stay. */
function withChoice (set: ThreadSettings, { agent, model, effort, cwd, denied, workspace }: Choice): ThreadSettings {
  const { agent: _agent, cwd: _cwd, options, ...settings } = set
  const { model: _model, effort: _effort, denyTools: _denied, workspace: _workspace, ...others } = options ?? {}
  const chosen = {
    ...{ ...others, ...model !== '' && { model }, ...effort !== '' && { effort: effort as RunOptions['effort'] } },
    ...denied.length > 0 && { denyTools: [...denied] },
    ...workspace !== '' && { workspace: 'copy' as const }
  }
  const named = { ...agent !== '' && { agent }, ...cwd !== '' && { cwd } }
  return { ...settings, ...named, ...Object.keys(chosen).length > 0 && { options: chosen } }
}

/**
 * The agent, model, effort, folder and tools of a conversation, which the service stores. A new conversation begins with this tab's last
 * choice for a new one. `keep` stores the choice when the service has the first message.
 */
export function useModelChoice (id: string, { isNew, settings: stored = {} }: ThreadPage) {
  const [agent, setAgent] = useDraft('agent')
  const [model, setModel] = useDraft('model')
  const [effort, setEffort] = useDraft('effort')
  const [cwd, setCwd] = useDraft('folder')
  const [denied, setDenied] = useDraft('denied tools')
  const [workspace, setWorkspace] = useDraft('workspace')
  const queries = useQueryClient()
  const saving = useMutation({
    mutationFn: (settings: ThreadSettings) => putThread({ ...asked(), path: { id }, body: { settings } }).then(body),
    onSuccess ({ settings }) {
      queries.setQueryData(threadPage(id).queryKey, (page: ThreadPage | undefined) => page && { ...page, settings })
    }
  })
  // Settings that are being sent. They are shown at once: React Query reports its state later, and a checkbox would jump back until then.
  const [sent, setSent] = useState<ThreadSettings>()
  const save = (settings: ThreadSettings) => {
    setSent(settings)
    saving.mutate(settings, { onSettled: () => setSent((now) => now === settings ? undefined : now) })
  }
  const settings = sent ?? stored
  const first = { agent, model, effort, cwd, workspace, denied: denied.split('\n').filter((entry) => entry !== '') }
  const choice: Choice = isNew && sent === undefined
    ? first
    : {
        ...{ agent: settings.agent ?? '', model: settings.options?.model ?? '', effort: settings.options?.effort ?? '' },
        cwd: settings.cwd ?? '',
        denied: settings.options?.denyTools ?? [],
        workspace: settings.options?.workspace ?? ''
      }
  // Stored settings may name tools that no longer exist, and a request may not name them.
  const asksWithout = isNew || sent !== undefined ? choice.denied : []
  const { options, agent: chosen, cwd: folder } = withChoice({}, { ...choice, denied: asksWithout })

  return {
    ...choice,
    /** The choice as options of a request, because the stored settings might still be on their way. */
    options: { ...options, ...chosen !== undefined && { agent: chosen }, ...folder !== undefined && { cwd: folder } } as RunOptions,
    error: saving.error,

    change (part: Partial<Choice>) {
      if (!isNew) return save(withChoice(settings, { ...choice, ...part }))
      setAgent(part.agent ?? agent)
      setModel(part.model ?? model)
      setEffort(part.effort ?? effort)
      setCwd(part.cwd ?? cwd)
      setWorkspace(part.workspace ?? workspace)
      if (part.denied !== undefined) setDenied(part.denied.join('\n'))
    },

    /** Stores the choice for a new conversation. */
    keep () {
      if (Object.values(first).some((value) => value.length > 0)) save(withChoice({}, first))
      // The next new conversation begins without a copy.
      setWorkspace('')
    }
  }
}
export type ModelChoice = ReturnType<typeof useModelChoice>
