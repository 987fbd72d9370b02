import { button, element } from './elements.ts'
import type { ShownRequest } from './requests.ts'

const KINDS: Record<string, string> = {
  created: 'is created',
  changed: 'is changed',
  deleted: 'is deleted',
  moved: 'is moved'
}

const inWords = (value: unknown): string => typeof value === 'string' ? value : JSON.stringify(value, null, 2) ?? ''

/** A block of text that scrolls on its own, also by keyboard. */
function block (label: string, text: string): HTMLPreElement {
  const pre = element('pre', {}, text)
  pre.tabIndex = 0
  pre.setAttribute('role', 'region')
  pre.setAttribute('aria-label', label)
  return pre
}

function diffBlock (path: string, diff: string): HTMLPreElement {
  const pre = block(`Changes of ${path}`, '')
  pre.append(...diff.split('\n').map((line) =>
    element('span', { className: line.startsWith('+') ? 'add' : line.startsWith('-') ? 'remove' : '' }, line)))
  return pre
}

function fact (name: string, ...values: Array<Node | string | undefined>): HTMLElement[] {
  const known = values.filter((value) => value !== undefined && value !== '')
  return known.length === 0 ? [] : [element('dt', {}, name), ...known.map((value) => element('dd', {}, value))]
}

/** Shows the changes that a call would make now, path by path. */
function changesOf ({ changes, note, refused }: ShownRequest['preview']): HTMLElement[] {
  return [
    ...changes.map(({ path, kind, from, what, withContents, replaces, diff }) =>
      element(
        'section',
        { className: 'card' },
        element('h3', {}, `${from === undefined ? path : `${from} → ${path}`} ${KINDS[kind] ?? kind}`),
        withContents === true && element('p', {}, 'With all that is in it.'),
        replaces === true && element('p', { className: 'bad' }, 'It replaces what is there.'),
        what !== undefined && what !== 'file' && element('p', { className: 'quiet' }, what),
        diff !== undefined && diffBlock(path, diff)
      )),
    ...note === undefined ? [] : [element('p', {}, note)],
    ...refused === undefined ? [] : [element('p', { className: 'bad' }, `It would fail now: ${refused}`)]
  ]
}

function inputOf ({ input }: ShownRequest['request']): Array<Node | string> {
  if (input === undefined) return []
  if (typeof input !== 'object' || input === null || Array.isArray(input)) return [block('Input', inWords(input))]
  return Object.entries(input).flatMap(([name, value]) => [element('strong', {}, name), block(name, inWords(value))])
}

/** Shows an approval in full, with the answers that this device can give. */
export function requestView (
  { title, request, preview, answers }: ShownRequest,
  { decide, back }: { decide: (answer: 'once' | 'deny') => void, back: () => void }
): HTMLElement[] {
  const { toolName, toolServer, server, cwd, boundary, reasons = [], note, output, questions = [], serverTools = [] } = request
  const labels = { once: request.kind === 'result' ? 'Accept' : 'Allow once', deny: request.kind === 'question' ? 'Decline' : 'Deny' }
  return [
    button('‹ All requests', back),
    element('h2', { id: 'title' }, title),
    element(
      'dl',
      { className: 'card' },
      ...fact('Tool', toolName && (toolServer === undefined ? toolName : `${toolName} of ${toolServer.name}`)),
      ...fact('Tool server', server),
      ...fact('Folder', cwd),
      ...fact('Where it runs', boundary?.text),
      ...fact('For', request.taskId ? 'A task' : request.threadId && 'A conversation'),
      ...fact('Why it asks', ...reasons.map(({ text }) => text)),
      ...fact('Note', note),
      ...fact('Asked', ...questions.map(({ text }) => text)),
      ...fact('Tools', ...serverTools.map(({ name, description }) => `${name}: ${description}`)),
      ...fact('Input', ...inputOf(request)),
      ...fact('Result', output === undefined ? undefined : block('Result', output))
    ),
    ...changesOf(preview),
    answers.length < 2 && element('p', { className: 'quiet' }, 'Its answer needs the computer.'),
    answers.length > 0 && element(
      'div',
      { className: 'answers' },
      ...answers.toReversed().map((answer) => button(labels[answer], () => decide(answer), answer === 'once' ? 'main' : ''))
    )
  ].filter((child) => child !== false)
}
