import t from 'tap'
import { POLICIES } from '../../../../services/runs/gate/check-call.ts'
import { CALLS, outcomeOf, settledIn, SITUATIONS } from './table-harness.ts'

/**
 * Every kind of call in every situation, and what a person sees of it (docs/security.md, "Approvals"):
 * run: it runs, unasked; used: it runs by a grant, whose use is stored; ask: a person is asked; question: the user answers in the tool's
 * place; app: the application gets it; wait: it waits for an answer; no: refused, since the person denied it in this step; before: refused,
 * since the person denied it earlier; late: refused, since nobody answered; nobody: refused, since nobody can be asked; none: the user
 * answers no questions in this run; unknown: it had begun, and its outcome is unknown; sheet: it is answered and a line of the sheet says
 * what it would do; noted: it runs on the copy, and a line of the sheet says that the run itself would ask; noted none: the sheet has the
 * question, which nobody answers.
 */
const TABLES = [
  // Who is there, and what they gave or denied before.
  `
               person    grant     rests     denied    denied+grant  nobody  nobody+grant  never
  look         run       run       run       run       run           run     run           run
  look-text    run       run       run       run       run           run     run           run
  change       ask       used      ask       before    before        nobody  used          run
  change-text  ask       used      ask       before    before        nobody  used          ask
  free         run       run       run       run       run           run     run           run
  free-text    ask       used      ask       before    before        nobody  used          ask
  fetch        ask       used      ask       before    before        nobody  used          run
  fetch-asks   ask       used      ask       before    before        nobody  used          run
  own          ask       used      ask       before    before        nobody  used          run
  edit-in      ask       used      ask       before    before        nobody  used          run
  edit-text    ask       used      ask       before    before        nobody  used          ask
  edit-own     ask       used      ask       before    before        nobody  used          run
  edit-out     ask       used      ask       before    before        nobody  used          run
  command      ask       used      ask       before    before        nobody  used          run
  outside      ask       used      ask       before    before        nobody  used          run
  message      run       run       run       run       run           run     run           run
  stop         run       run       run       run       run           run     run           run
  user         question  question  question  question  question      none    none          question
  app          ask       app-used  ask       before    before        nobody  app-used      app
  app-look     app       app       app       app       app           app     app           app
  app-text     ask       app-used  ask       before    before        nobody  app-used      ask
  `,
  // On a copy of the folder, and in a rehearsal.
  `
               copy      copy+nobody  copy+denied  rehearsal   rehearsal+grant  dry-run
  look         run       run          run          run         run              run
  look-text    run       run          run          run         run              run
  change       ask       nobody       before       sheet       sheet            sheet
  change-text  ask       nobody       before       sheet       sheet            sheet
  free         run       run          run          sheet       sheet            sheet
  free-text    ask       nobody       before       sheet       sheet            sheet
  fetch        ask       nobody       before       sheet       run              sheet
  fetch-asks   ask       nobody       before       sheet       run              sheet
  own          ask       nobody       before       sheet       sheet            sheet
  edit-in      run       run          run          noted       run              run
  edit-text    run       run          run          noted       run              run
  edit-own     ask       nobody       before       noted       run              noted
  edit-out     ask       nobody       before       sheet       sheet            sheet
  command      run       run          run          noted       run              run
  outside      ask       nobody       before       sheet       sheet            sheet
  message      run       run          run          sheet       sheet            sheet
  stop         run       run          run          run         run              run
  user         question  none         question     noted-none  noted-none       noted-none
  app          ask       nobody       before       sheet       sheet            sheet
  app-look     app       app          app          sheet       sheet            sheet
  app-text     ask       nobody       before       sheet       sheet            sheet
  `,
  // What the ledger holds of the call.
  `
               approved  open  refused  expired  begun
  look         run       wait  no       late     unknown
  look-text    run       wait  no       late     unknown
  change       run       wait  no       late     unknown
  change-text  run       wait  no       late     unknown
  free         run       wait  no       late     unknown
  free-text    run       wait  no       late     unknown
  fetch        run       wait  no       late     unknown
  fetch-asks   run       wait  no       late     unknown
  own          run       wait  no       late     unknown
  edit-in      run       wait  no       late     unknown
  edit-text    run       wait  no       late     unknown
  edit-own     run       wait  no       late     unknown
  edit-out     run       wait  no       late     unknown
  command      run       wait  no       late     unknown
  outside      run       wait  no       late     unknown
  message      run       wait  no       late     unknown
  stop         run       wait  no       late     unknown
  user         -         -     -        -        -
  app          app       wait  no       late     unknown
  app-look     app       wait  no       late     unknown
  app-text     app       wait  no       late     unknown
  `
]

/** The cells of the tables: the kind of call, the situation, and what a person sees. */
const rows = TABLES.flatMap((table) => {
  const [header, ...lines] = table.trim().split('\n').map((line) => line.trim().split(/\s+/))
  return lines.flatMap(([name, ...seen]) => seen.map((each, at) => [name, header[at], each]))
})

t.test('what a person sees of every kind of call in every situation', async (t) => {
  t.same(new Set(rows.map(([name, situation]) => `${name}, ${situation}`)),
    new Set(CALLS.flatMap((name) => SITUATIONS.map((situation) => `${name}, ${situation}`))))
  t.ok(rows.length >= 200)
  for (const [name, situation, expected] of rows) {
    if (expected !== '-') t.equal(await outcomeOf(name, situation), expected, `${name}, ${situation}`)
  }
})

/** Of each policy, a call and a situation that it decides, and what it does. */
const OF_EACH: Record<string, [call: string, situation: string, seen: string, what: string]> = {
  decidedBefore: ['look', 'open', 'wait', 'a call whose approval is open waits, whatever its tool may do'],
  userQuestion: ['user', 'person', 'question', 'a question to the user waits for the answer'],
  toolPermission: ['change', 'person', 'ask', 'a call of a tool that asks is asked about'],
  writtenAsText: ['free-text', 'person', 'ask', 'a call that was written as text asks though its tool is allowed'],
  workingCopy: ['edit-in', 'copy', 'run', 'what changes the copy alone runs unasked'],
  addresses: ['fetch', 'person', 'ask', 'an address that the model put together is asked about'],
  toolQuestion: ['own', 'person', 'ask', 'a tool asks about one call though it is allowed'],
  rehearsal: ['free', 'rehearsal', 'sheet', 'a rehearsal answers what would reach beyond its copy'],
  deniedBefore: ['change', 'denied', 'before', 'what was denied is not asked about again'],
  grants: ['change', 'grant', 'used', 'what a grant covers runs unasked'],
  unattended: ['change', 'nobody', 'nobody', 'where nobody is asked, what asks is refused']
}

t.same(POLICIES.map(({ name }) => name), Object.keys(OF_EACH))
for (const [policy, [name, situation, seen, what]] of Object.entries(OF_EACH)) {
  t.test(`${policy}: ${what}`, async (t) => t.equal(await outcomeOf(name, situation), seen))
}

t.test('a request says which policies asked, in words', async (t) => {
  const askedBy = async (name: string) =>
    (await settledIn(name, 'person')).asked.flatMap((call) => call.kind === 'tool' ? call.reasons : [])
  t.match(await askedBy('change'), [{ policy: 'toolPermission', text: /can change files/ }])
  t.match(await askedBy('change-text'), [{ policy: 'toolPermission' }, { policy: 'writtenAsText', text: /wrote this call as text/ }])
  t.match(await askedBy('fetch'), [{ policy: 'addresses', text: 'address' }])
  t.match(await askedBy('own'), [{ policy: 'toolQuestion', text: 'own' }])
})
