/**
 * `npm run fuzz`: minutes of requests that Schemathesis generates from `GET /openapi.json`,
 * against a real engine and worker: first as an operator, then as one of two tenants of a policy.
 * After them, random requests with access tokens, each compared with what docs/access.md says, and a million forged
 * tokens of links.
 *
 * `FUZZ_MINUTES` (10, for `operator` and `tenant`), `FUZZ_REQUESTS` (10 000, for `access`), `FUZZ_SEED` (random) and
 * `FUZZ_AS` (`operator`, `tenant`, `access` or `links`, default: all) change it.
 * Exits with 1 if a response is not what the document says, or shows something of the other tenant,
 * with the request as a curl command; or if the outcome of a request is not the one that docs/access.md says.
 */
import { startEngine } from '../../dev/servers/engine.ts'
import { fuzzAccess } from './access.ts'
import { openForgedLinks } from './forged-links.ts'
import { FUZZED_ENGINE, type FuzzOptions, fuzz, fuzzAsTenant } from './fuzz.ts'

const minutes = Number(process.env.FUZZ_MINUTES ?? 10)
const seed = Number(process.env.FUZZ_SEED ?? Math.floor(Math.random() * 2 ** 31))
const requests = Number(process.env.FUZZ_REQUESTS ?? 10_000)
const callers = new Map(Object.entries({ operator: fuzz, tenant: fuzzAsTenant, access: compareAccess }))
const LINKS = 'links'
const FORGED_LINKS = 1_000_000
const all = [...callers.keys(), LINKS]
const names = process.env.FUZZ_AS === undefined ? all : [process.env.FUZZ_AS]
const print = (line: string) => void process.stdout.write(`${line}\n`)

const failed: string[] = []
for (const name of names) {
  if (name === LINKS) {
    print(`Opening ${FORGED_LINKS} forged links`)
    const wrong = await openForgedLinks(FORGED_LINKS)
    for (const token of wrong) print(token)
    if (wrong.length > 0) failed.push(name)
    continue
  }
  const run = callers.get(name)
  if (run === undefined) throw new Error(`FUZZ_AS must be one of ${all.join(', ')}`)
  const length = run === compareAccess ? `with ${requests} requests` : `for ${minutes} minutes`
  print(`Fuzzing as ${name} ${length}; FUZZ_AS=${name} FUZZ_SEED=${seed} repeats it`)
  const engine = await startEngine(FUZZED_ENGINE)
  const failures = await run({ address: engine.address, seed, minutes, onLine: print })
  await engine.kill()
  // The first one is what Schemathesis has printed.
  for (const failure of failures) if (!failure.includes('\n')) print(failure)
  if (failures.length > 0) failed.push(name)
}
print(failed.length === 0 ? 'Nothing found' : `Failed as ${failed.join(' and ')}; FUZZ_SEED=${seed} repeats it`)
process.exit(failed.length === 0 ? 0 : 1)

async function compareAccess({ address, seed }: FuzzOptions): Promise<string[]> {
  const { differences, counts } = await fuzzAccess({ address, seed, requests })
  print(`${requests} requests: ${JSON.stringify(counts)}; ${differences.length} differences`)
  return differences
}
