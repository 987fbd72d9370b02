/** The smallest number of consecutive steps that are folded. */
const LEAST_FOLDED = 2

/** Replaces consecutive step rows by the one row that `fold` makes from them; if `fold` returns undefined, the rows stay. */
export function foldSteps<Row, Step extends Row> (
  rows: Row[],
  isStep: (row: Row) => row is Step,
  fold: (steps: Step[]) => Row | undefined
): Row[] {
  const folded: Row[] = []
  let steps: Step[] = []
  const end = () => {
    const one = steps.length >= LEAST_FOLDED ? fold(steps) : undefined
    folded.push(...one === undefined ? steps : [one])
    steps = []
  }
  for (const row of rows) {
    if (isStep(row)) {
      steps.push(row)
      continue
    }
    end()
    folded.push(row)
  }
  end()
  return folded
}
