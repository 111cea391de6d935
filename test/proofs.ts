/** Prints which tests prove each threat and each failure: `npm run proofs`, `npm run proofs -- threat 17`. */
import { proofsOf, type Subject } from './support/proofs.ts'

const SUBJECTS: readonly Subject[] = ['threat', 'failure']
const [, , only, number] = process.argv

for (const subject of SUBJECTS.filter((one) => only === undefined || one === only)) {
  const proofs = Map.groupBy(proofsOf(subject), (proof) => proof.number)
  const numbers = [...proofs.keys()].toSorted((one, other) => one - other)
  for (const one of numbers.filter((each) => number === undefined || each === Number(number))) {
    console.log(`${subject} ${one}`)
    for (const { file, title } of proofs.get(one) ?? []) console.log(`  ${file}: ${title}`)
  }
}
