/**
 * `npm run mutants`: whether the tests find the defects of `list.json`. Each is applied to a copy of the sources, in
 * which the test that has to find it runs. Arguments are parts of paths: only the mutants of these files and tests run.
 *
 * Exits with 1 if fewer than 95 % are found, and if a text that a mutant replaces has moved.
 */
import { execFile } from 'node:child_process'
import { cp, mkdtemp, rm, symlink, writeFile } from 'node:fs/promises'
import { availableParallelism, tmpdir } from 'node:os'
import { join } from 'node:path'
import { fileURLToPath } from 'node:url'
import { mapConcurrent } from '../../src/shared/lib/map-concurrent.ts'
import { mutated } from '../soak/mutants/list.ts'
import { MUTANTS, type TestedMutant } from './list.ts'

const ROOT = fileURLToPath(new URL('../../', import.meta.url))
const LINKED = ['node_modules', '.cache', '.git']
const NOT_COPIED = [...LINKED, 'dist']
const MIN_FOUND = 0.95

const print = (line: string) => void process.stdout.write(`${line}\n`)

await Promise.all(MUTANTS.map(mutated))
const wanted = process.argv.slice(2)
const mutants = MUTANTS.filter(
  ({ file, test }) => wanted.length === 0 || wanted.some((part) => file.includes(part) || test.includes(part)),
)
const copies = await Promise.all(Array.from({ length: availableParallelism() }, copyOfSources))
let found = 0
await mapConcurrent(mutants, copies.length, async (mutant) => {
  const copy = copies.pop()
  if (copy === undefined) throw new Error('there are as many copies as mutants at a time')
  const startedAt = performance.now()
  const failed = await failedTest(copy, mutant)
  copies.push(copy)
  if (failed !== null) found++
  const seconds = ((performance.now() - startedAt) / 1000).toFixed(1).padStart(5)
  print(
    `${failed === null ? 'NOT FOUND' : 'found    '} ${seconds} s  ${mutant.name}\n            ${failed ?? mutant.test}`,
  )
})
await Promise.all(copies.map((copy) => rm(copy, { recursive: true, force: true })))
print(`${found} of ${mutants.length} found`)
process.exitCode = found >= mutants.length * MIN_FOUND ? 0 : 1

async function copyOfSources(): Promise<string> {
  const copy = await mkdtemp(join(tmpdir(), 'mutants-'))
  const left = NOT_COPIED.map((name) => join(ROOT, name))
  await cp(ROOT, copy, { recursive: true, filter: (path) => !left.includes(path) })
  for (const path of LINKED) await symlink(join(ROOT, path), join(copy, path))
  return copy
}

/** The first test that fails with the defect; null if all pass. */
async function failedTest(copy: string, mutant: TestedMutant): Promise<string | null> {
  const changed = join(copy, mutant.file)
  await writeFile(changed, await mutated(mutant))
  try {
    return await new Promise((resolve, reject) => {
      const vitest = join(copy, 'node_modules/vitest/vitest.mjs')
      const options = { cwd: copy, env: { ...process.env, NO_COLOR: '1' }, maxBuffer: 2 ** 26 }
      execFile(process.execPath, [vitest, 'run', '--bail', '1', mutant.test], options, (error, stdout, stderr) => {
        const [, failed] = /^ FAIL +(.*)/m.exec(`${stdout}${stderr}`) ?? []
        if (error === null) resolve(null)
        else if (failed !== undefined) resolve(failed)
        else reject(new Error(`${mutant.test} could not run with "${mutant.name}":\n${stdout}${stderr}`))
      })
    })
  } finally {
    await cp(join(ROOT, mutant.file), changed)
  }
}
