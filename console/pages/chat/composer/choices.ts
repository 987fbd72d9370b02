import { useQuery } from '@tanstack/react-query'
import { listPrompts, listSkills, type Prompt } from '../../../../client/generated/index.ts'
import { keys } from '../../../lib/queries.ts'
import { asked, body } from '../../../lib/service.ts'

/** How long a list is shown again without a new request, in milliseconds: servers and folders change without an event. */
const FRESH_MS = 10_000

/** A line of the list: a prompt or a skill. `from` names its server or folder. */
export type Choice = { key: string, name: string, title?: string, about?: string, from: string } & (
  | { kind: 'prompt', prompt: Prompt }
  | { kind: 'skill' }
)

interface Choices {
  all: Choice[]
  /** The servers that could not list their prompts. */
  failed: string[]
  isReading: boolean
}

/** The prompts of tool servers and the skills of a folder. They are read when `shown` is true. */
export function useChoices ({ cwd, shown }: { cwd?: string, shown: boolean }): Choices {
  const prompts = useQuery({
    queryKey: keys.prompts(),
    queryFn: () => listPrompts(asked()).then(body),
    enabled: shown,
    staleTime: FRESH_MS
  })
  const skills = useQuery({
    queryKey: [...keys.skills(), cwd ?? ''],
    queryFn: () => listSkills({ ...asked(), query: cwd === undefined ? {} : { cwd } }).then(body),
    enabled: shown,
    staleTime: FRESH_MS
  })
  const all = [
    ...(skills.data?.skills ?? []).flatMap(({ name, description, path, state }): Choice[] =>
      state === 'refused' || state === 'hidden' ? [] : [{ key: `skill ${name}`, kind: 'skill', name, about: description, from: path }]),
    ...(prompts.data?.prompts ?? []).map((prompt): Choice => ({
      ...{ key: `prompt ${prompt.server} ${prompt.name}`, kind: 'prompt', prompt },
      ...{ name: prompt.name, title: prompt.title, about: prompt.description, from: prompt.server }
    }))
  ]
  const failed = prompts.data?.failed.map(({ server }) => server) ?? []
  return { all, failed, isReading: prompts.isLoading || skills.isLoading }
}

/** Returns the choices that match the typed text: first those whose name begins with it, then those that contain it. */
export function fitting (all: readonly Choice[], typed: string): Choice[] {
  const wanted = typed.toLowerCase()
  const rank = ({ name, title = '', about = '', from }: Choice): number => {
    const names = [name, title].map((text) => text.toLowerCase())
    if (names.some((text) => text.startsWith(wanted))) return 0
    if (names.some((text) => text.includes(wanted))) return 1
    return wanted.length > 2 && `${about} ${from}`.toLowerCase().includes(wanted) ? 2 : 3
  }
  return all.map((choice) => ({ choice, rank: rank(choice) })).filter(({ rank }) => rank < 3).sort((a, b) => a.rank - b.rank)
    .map(({ choice }) => choice)
}
