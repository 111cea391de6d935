/**
 * `node lab/soak/mutants/main.ts`: whether the checker of the soak finds the defects of `list.ts`. Each is applied to
 * a copy of the sources, on which a short soak runs. Arguments are parts of names: only these mutants run.
 *
 * Exits with 1 if more than two are not found, and if a text that a mutant replaces has moved.
 */
import { execFile } from 'node:child_process'
import { cp, mkdir, mkdtemp, readFile, rm, symlink, writeFile } from 'node:fs/promises'
import { tmpdir } from 'node:os'
import { join } from 'node:path'
import { fileURLToPath } from 'node:url'
import { mapConcurrent } from '../../../src/shared/lib/map-concurrent.ts'
import { MUTANTS, type Mutant, mutated } from './list.ts'

const ROOT = fileURLToPath(new URL('../../../', import.meta.url))
const COPIED = ['src', 'dev', 'lab/soak', 'test/support', 'package.json', 'tsconfig.json']
const LINKED = ['node_modules', '.cache']
const SEED = process.env.SOAK_SEED ?? '4711'
// On a busy machine these take minutes.
const OPERATIONS = '1200'
const MAX_MISSED = 2
// Each soak runs an engine and two replicas.
const AT_ONCE = Number(process.env.MUTANTS_AT_ONCE ?? 1)

const print = (line: string) => void process.stdout.write(`${line}\n`)

await Promise.all(MUTANTS.map(mutated))
const wanted = process.argv.slice(2)
const mutants = MUTANTS.filter(({ name }) => wanted.length === 0 || wanted.some((part) => name.includes(part)))
const missed: string[] = []
await mapConcurrent(mutants, AT_ONCE, async (mutant) => {
  const [first] = await violationsWith(mutant)
  print(
    `${first === undefined ? 'NOT FOUND' : 'found'}  ${mutant.name}${first === undefined ? '' : `\n       ${first}`}`,
  )
  if (first === undefined) missed.push(mutant.name)
})
print(`${mutants.length - missed.length} of ${mutants.length} found`)
process.exit(missed.length <= MAX_MISSED ? 0 : 1)

async function violationsWith(mutant: Mutant): Promise<string[]> {
  const copy = await mkdtemp(join(tmpdir(), 'mutant-'))
  try {
    await mkdir(join(copy, 'test'))
    for (const path of COPIED) await cp(join(ROOT, path), join(copy, path), { recursive: true })
    for (const path of LINKED) await symlink(join(ROOT, path), join(copy, path))
    await writeFile(join(copy, mutant.file), await mutated(mutant))
    const output = await soak(copy)
    const report: { violations: { rule: string; message: string }[] } = JSON.parse(
      await readFile(join(copy, `report-${SEED}.json`), 'utf8').catch(() => {
        throw new Error(`"${mutant.name}": the soak has failed:\n${output}`)
      }),
    )
    return report.violations.map(({ rule, message }) => `${rule}: ${message}`)
  } finally {
    await rm(copy, { recursive: true, force: true })
  }
}

/** What it has printed last. */
function soak(copy: string): Promise<string> {
  const env = {
    ...process.env,
    SOAK_MINUTES: '0.2',
    SOAK_OPERATIONS: OPERATIONS,
    SOAK_OUTAGES: 'false',
    SOAK_SEED: SEED,
    SOAK_REPORT: copy,
    SOAK_GROWTH: 'false',
    SOAK_CLIENTS: 'http,portico',
  }
  return new Promise((resolve) => {
    const main = join(copy, 'lab/soak/main.ts')
    execFile(process.execPath, [main], { cwd: copy, env, maxBuffer: 2 ** 26 }, (_error, stdout, stderr) =>
      resolve(`${stdout}${stderr}`.slice(-2000)),
    )
  })
}
