import { button, element } from './elements.ts'
import { decideRequest, forget, isPaired, type Listed, listRequests, pair, Refused, showRequest } from './requests.ts'
import { requestView } from './show-request.ts'

// The page of a paired device. It pairs the device, lists the open approvals, shows one in full and sends the answer. It shows one at a
// time and stores only its key.

/** The interval at which a visible page reads the open approvals, in milliseconds. */
const LOOK_MS = 4_000
const SECRET = /^#pair=([A-Za-z0-9_-]{22})$/

const main = document.querySelector('main')!
const status = document.querySelector('#status')!
/** The id of the approval that is shown in full. */
let opened: string | undefined
/** The approvals in the list, as JSON. The list is drawn again only if they change. */
let listed = ''

const say = (text: string) => {
  if (status.textContent !== text) status.textContent = text
}

function draw (...children: Array<Node | false>): void {
  main.replaceChildren(...children.filter((child) => child !== false))
  main.focus({ preventScroll: true })
  scrollTo(0, 0)
}

/** Shows an error. Deletes the key if it is no longer valid. */
function fail (error: unknown): void {
  if (!(error instanceof Refused)) return say('The computer cannot be reached. It is tried again.')
  say(error.message)
  if (error.status !== 401) return
  forget()
  showUnpaired()
}

function showUnpaired (): void {
  opened = undefined
  draw(
    element(
      'section',
      { className: 'card' },
      element('h2', {}, 'Not paired'),
      element('p', {}, 'This page decides what your agent may do. On the computer, run “local-agent reach” and scan the code it shows.')
    )
  )
}

/** Returns a name for this device, guessed from its browser. */
function guessName (): string {
  const [kind] = /iPhone|iPad|Android|Mac|Windows|Linux/.exec(navigator.userAgent) ?? []
  return kind === 'Android' ? 'Android phone' : kind ?? 'Phone'
}

function showPairing (secret: string): void {
  say('')
  const name = element('input', { name: 'name', value: guessName(), maxLength: 60, required: true, autocomplete: 'off' })
  const form = element(
    'form',
    { className: 'card' },
    element('h2', {}, 'Pair this device'),
    element('p', {}, 'It may then see what waits for you, and allow it once or deny it. It can do nothing else.'),
    element('label', {}, 'Name of this device', name)
  )
  const submit = element('button', { type: 'submit', className: 'main' }, 'Pair')
  form.append(submit)
  form.addEventListener('submit', (event) => {
    event.preventDefault()
    submit.disabled = true
    pair(secret, name.value.trim() || guessName())
      .then(() => {
        history.replaceState(null, '', location.pathname)
        say('Paired.')
        return showList()
      })
      .catch((error) => {
        submit.disabled = false
        say(error instanceof Refused ? error.message : 'The computer cannot be reached. Try again.')
      })
  })
  draw(form)
}

const ago = (at: number): string => {
  const minutes = Math.max(0, Math.round((Date.now() - at) / 60_000))
  return minutes < 1
    ? 'just now'
    : minutes < 60
      ? `${minutes} min ago`
      : minutes < 1_440
        ? `${Math.round(minutes / 60)} h ago`
        : `${Math.round(minutes / 1_440)} d ago`
}

function row ({ approvalId, title, createdAt }: Listed): HTMLElement {
  const open = button('', () => void showOne(approvalId), 'open')
  open.append(element('strong', {}, title), element('span', { className: 'quiet' }, ago(createdAt)))
  return element('li', {}, open)
}

async function showList (): Promise<void> {
  opened = undefined
  listed = ''
  await refresh()
}

/** Reads the open approvals, and lists them unless one is shown in full. */
async function refresh (): Promise<void> {
  if (!isPaired() || opened !== undefined) return
  try {
    const { requests, more } = await listRequests()
    if (opened !== undefined) return
    const [first] = requests
    if (/cannot be reached/.test(status.textContent ?? '')) say('')
    const now = JSON.stringify(requests.map(({ approvalId, createdAt }) => [approvalId, ago(createdAt)]))
    if (now === listed) return
    listed = now
    const list = first === undefined
      ? element('p', { className: 'card' }, 'Nothing waits for you.')
      : element('ul', {}, ...requests.map(row))
    draw(
      element('h2', {}, first === undefined ? 'All done' : `Waiting for you: ${requests.length}${more ? ' and more' : ''}`),
      list,
      button('Forget this device', () => {
        forget()
        say('Forgotten here. “local-agent reach revoke” ends its key on the computer.')
        showUnpaired()
      })
    )
  } catch (error) {
    fail(error)
  }
}

async function showOne (approvalId: string): Promise<void> {
  opened = approvalId
  try {
    const seen = await showRequest(approvalId)
    if (opened !== approvalId) return
    draw(...requestView(seen, {
      back: () => {
        say('')
        void showList()
      },
      decide: (answer) => void decide(approvalId, answer, seen.digest)
    }))
  } catch (error) {
    opened = undefined
    fail(error)
    if (error instanceof Refused && error.status !== 401) await showList()
  }
}

async function decide (approvalId: string, answer: 'once' | 'deny', digest: string): Promise<void> {
  const buttons = main.querySelectorAll('button')
  for (const each of buttons) each.disabled = true
  try {
    await decideRequest(approvalId, answer, digest)
    say(answer === 'once' ? 'Allowed once.' : 'Denied.')
    await showList()
  } catch (error) {
    for (const each of buttons) each.disabled = false
    fail(error)
    if (!(error instanceof Refused) || error.status === 401) return
    if (error.code === 'ERR_APPROVAL_CHANGED') await showOne(approvalId)
    else await showList()
  }
}

function begin (): void {
  const secret = SECRET.exec(location.hash)?.[1]
  if (secret !== undefined) showPairing(secret)
  else if (isPaired()) void showList()
  else showUnpaired()
}

addEventListener('hashchange', begin)
document.addEventListener('visibilitychange', () => void refresh())
setInterval(() => {
  if (!document.hidden && SECRET.exec(location.hash) === null) void refresh()
}, LOOK_MS)
begin()
