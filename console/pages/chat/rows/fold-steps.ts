/** Fewer steps that follow each other stay as they are. */
const LEAST_FOLDED = 2

/** Puts rows that follow each other, and are all steps, into one that `fold` makes of them; `undefined` leaves them as they are. */
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
