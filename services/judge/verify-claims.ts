import type { Claim } from '../../schemas/evaluation.ts'
import type { CallFact } from './call-facts.ts'
import { mentions, textOfInput } from './claim-target.ts'
import { confirmed, contradicted, NO_CALL, NOT_NAMED, OUTCOME_OPEN, shown, unchecked, type Asserted, type Verdict } from './verdicts.ts'
import { verifyFileClaim, type Facts } from './verify-file-claim.ts'

/**
 * Checks what a report claims against what is recorded of the run's calls, and for files against the disk. Nothing is read from the
 * words of a claim: only its effect, its target and its call count.
 */
export async function verifyClaims (claims: Asserted[], facts: Omit<Facts, 'claims'>): Promise<Claim[]> {
  const verified: Claim[] = []
  for (const asserted of claims) {
    const { claim, effect, target, call } = asserted
    const verdict = effect === 'file' || effect === 'deletion'
      ? await verifyFileClaim(asserted, { ...facts, claims })
      : effect === 'other'
        ? unchecked('An effect of this kind leaves nothing that can be checked.')
        : verifyAct(asserted, facts.calls)
    verified.push({
      claim: shown(claim),
      effect,
      ...(target && { target: shown(target) }),
      call: call === undefined || call === null ? null : shown(call),
      ...verdict
    })
  }
  return verified
}

/** A command or a message leaves nothing but its call. The call must name the target; without a target, the claim must name the call. */
function verifyAct ({ effect, target, call: id }: Asserted, calls: CallFact[]): Verdict {
  const able = calls.filter(({ proves }) => proves === effect || proves === 'any')
  const done = able.filter(({ status }) => status === 'completed')
  if (done.some((call) => target ? names(call, target) : call.id === id)) return confirmed
  if (able.some(({ status }) => status === 'unknown')) return unchecked(OUTCOME_OPEN)
  return done.length > 0 ? unchecked(NOT_NAMED) : contradicted(NO_CALL)
}

/** The shortest command that is looked for in a longer target; characters. */
const SHORTEST = 4

/** Whether an input names a command or a recipient, or the target holds the whole command: a report may quote more than was run. */
function names ({ input, target: own }: CallFact, target: string): boolean {
  const wanted = spaced(target)
  const command = own === undefined ? '' : spaced(own)
  return mentions(spaced(textOfInput(input)), wanted) || (command.length >= SHORTEST && mentions(wanted, command))
}

const spaced = (text: string) => text.normalize('NFC').toLowerCase().replace(/\s+/gu, ' ').replace(/^["'`\s]+|["'`\s]+$/gu, '')
