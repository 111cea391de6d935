/**
 * `node test/simulator/mutants/main.ts`: whether simulations find the defects of `list.ts`, and with which seed. Each
 * is applied to a copy of the sources. Arguments are parts of names: only these mutants run.
 *
 * Exits with 1 if one is not found, and if a text that a mutant replaces has moved.
 */
import { execFile } from 'node:child_process'
import { cp, mkdir, mkdtemp, rm, symlink, writeFile } from 'node:fs/promises'
import { availableParallelism, tmpdir } from 'node:os'
import { join } from 'node:path'
import { fileURLToPath } from 'node:url'
import { mutated } from '../../../lab/soak/mutants/list.ts'
import { mapConcurrent } from '../../../src/shared/lib/map-concurrent.ts'
import { MUTANTS, type SimulatedMutant } from './list.ts'
import { REVERTED } from './reverted.ts'
import { UNSEEABLE, UNSEEN } from './unseen.ts'

const ROOT = fileURLToPath(new URL('../../../', import.meta.url))
const COPIED = ['src', 'lab/soak', 'test/simulator', 'test/support', 'dev', 'package.json', 'tsconfig.json']
const SEEDS = 60

const print = (line: string) => void process.stdout.write(`${line}\n`)

await Promise.all(MUTANTS.map(mutated))
const wanted = process.argv.slice(2)
const mutants = MUTANTS.filter(({ name }) => wanted.length === 0 || wanted.some((part) => name.includes(part)))
let found = 0
await mapConcurrent(mutants, availableParallelism(), async (mutant) => {
  const startedAt = performance.now()
  const { profile = 'usual', seed: listed = 1 } = mutant
  const finding = await findingOf(mutant)
  const seconds = ((performance.now() - startedAt) / 1000).toFixed(1).padStart(5)
  if (finding !== null) found++
  const seed = finding === null ? `none of ${SEEDS}` : `seed ${finding.seed}${finding.seed === listed ? '' : ' (new)'}`
  print(`${finding === null ? 'NOT FOUND' : 'found    '} ${seconds} s  ${profile}, ${seed}: ${mutant.name}`)
  if (finding !== null) print(`          ${finding.violation}`)
})
print(`${found} of ${mutants.length} found`)
for (const { correction, why } of UNSEEN) print(`not seen: ${correction}: ${why}`)
for (const { correction, why } of UNSEEABLE) print(`cannot be seen: ${correction}: ${why}`)
const seeable = REVERTED.length + UNSEEN.length
print(`Of ${seeable} reverted corrections that a simulation can show, ${UNSEEN.length} are in no list of mutants`)
process.exitCode = found === mutants.length ? 0 : 1

interface Finding {
  seed: number
  violation: string
}

/** The first violation that the sources without the defect do not have; null without one. */
async function findingOf(mutant: SimulatedMutant): Promise<Finding | null> {
  const { seed: listed = 1 } = mutant
  const copy = await mkdtemp(join(tmpdir(), 'mutant-'))
  try {
    await mkdir(join(copy, 'test'))
    for (const path of COPIED) await cp(join(ROOT, path), join(copy, path), { recursive: true })
    await symlink(join(ROOT, 'node_modules'), join(copy, 'node_modules'))
    await writeFile(join(copy, mutant.file), await mutated(mutant))
    return (await firstFinding(copy, mutant, listed, listed)) ?? (await firstFinding(copy, mutant, 1, SEEDS))
  } finally {
    await rm(copy, { recursive: true, force: true })
  }
}

async function firstFinding(copy: string, mutant: SimulatedMutant, from: number, to: number): Promise<Finding | null> {
  const finding = from > to ? null : await simulate(copy, mutant, from, to)
  if (finding === null || (await simulate(ROOT, mutant, finding.seed, finding.seed)) === null) return finding
  return firstFinding(copy, mutant, finding.seed + 1, to)
}

/** The first violation that a simulation with these sources prints. */
function simulate(
  root: string,
  { name, profile, isOnUsedIds }: SimulatedMutant,
  from: number,
  to: number,
): Promise<Finding | null> {
  const seeds = ['--from', String(from), '--seeds', String(to - from + 1), '--profile', profile ?? 'usual']
  const flags = isOnUsedIds ? ['--used-ids'] : []
  const args = ['--max-semi-space-size=128', join(root, 'test/simulator/main.ts'), ...seeds, ...flags, '--stop']
  return new Promise((resolve, reject) => {
    execFile(process.execPath, args, { cwd: root, maxBuffer: 2 ** 26 }, (_error, stdout, stderr) => {
      const [line, seed] = /^seed (\d+): .*/m.exec(stdout) ?? []
      if (line !== undefined) resolve({ seed: Number(seed), violation: line.slice(0, 200) })
      else if (/ 0 violations, /.test(stdout)) resolve(null)
      else reject(new Error(`"${name}" failed:\n${stderr.slice(-4000)}`))
    })
  })
}
