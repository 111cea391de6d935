/**
 * `npm run fuzz`: minutes of requests that Schemathesis generates from `GET /openapi.json`,
 * against a real engine and worker.
 *
 * `FUZZ_MINUTES` (10) and `FUZZ_SEED` (random) change it.
 * Exits with 1 if a response is not what the document says, with the request as a curl command.
 */
import { startEngine } from '../../src/cli/dev/servers/engine.ts'
import { FUZZED_ENGINE, fuzz } from './fuzz.ts'

const minutes = Number(process.env.FUZZ_MINUTES ?? 10)
const seed = Number(process.env.FUZZ_SEED ?? Math.floor(Math.random() * 2 ** 31))
const print = (line: string) => void process.stdout.write(`${line}\n`)

print(`Fuzzing for ${minutes} minutes; FUZZ_SEED=${seed} repeats it`)
const engine = await startEngine(FUZZED_ENGINE)
const failures = await fuzz({ address: engine.address, seed, minutes, onLine: print })
await engine.kill()
print(failures.length === 0 ? 'Nothing found' : `Failed; FUZZ_SEED=${seed} repeats it`)
process.exit(failures.length === 0 ? 0 : 1)
