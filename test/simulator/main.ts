/**
 * `npm run simulate -- --seeds 100 --from 1 --profile usual`: simulates, and exits with 1 after a violation. For the
 * first seed with one it also prints the command for the fewest clients, scenarios and faults that show it.
 *
 * `--trace` prints what happened, `--stop` ends at the first violation, without a smaller command. With `--used-ids`
 * clients only carry out scenarios in which ids are used again. The other options are those of that command.
 */
import { createHash } from 'node:crypto'
import { parseArgs } from 'node:util'
import { PROFILES, type ProfileName } from './profiles.ts'
import { REUSED } from './reused-ids.ts'
import { shrink } from './shrink.ts'
import { type SimulationOptions, simulate } from './simulate.ts'

const { values } = parseArgs({
  options: {
    seeds: { type: 'string', default: '100' },
    from: { type: 'string', default: '1' },
    profile: { type: 'string', default: 'usual' },
    trace: { type: 'boolean', default: false },
    stop: { type: 'boolean', default: false },
    clients: { type: 'string' },
    scenarios: { type: 'string' },
    faults: { type: 'string' },
    undisturbed: { type: 'boolean', default: false },
    'used-ids': { type: 'boolean', default: false },
  },
})
const [count, from] = [Number(values.seeds), Number(values.from)]
const profile = Object.keys(PROFILES).find((name): name is ProfileName => name === values.profile)
if (profile === undefined) throw new TypeError(`--profile must be one of ${Object.keys(PROFILES).join(', ')}`)

const numbers = (list: string) =>
  list
    .split(',')
    .filter((one) => one !== '')
    .map(Number)
const given: Omit<SimulationOptions, 'seed'> = {
  faults: PROFILES[profile],
  disturbs: !values.undisturbed,
  ...(values['used-ids'] && { choices: REUSED }),
  ...(values.clients !== undefined && { clients: numbers(values.clients) }),
  ...(values.scenarios !== undefined && { scenarios: Number(values.scenarios) }),
  ...(values.faults !== undefined && { onlyFaults: new Set(numbers(values.faults)) }),
}

// Thousands of errors are part of each simulation, and a stack is a large part of one.
if (!values.trace) Error.stackTraceLimit = 0

const all = createHash('sha256')
const total = { operations: 0, requests: 0, calls: 0, virtualMs: 0 }
const happened: Record<string, number> = {}
let leftOut: string[] = []
let violations = 0
for (let seed = from; seed < from + count && !(values.stop && violations > 0); seed++) {
  const options = { ...given, seed }
  const simulation = await simulate(options)
  all.update(simulation.hash)
  for (const key of ['operations', 'requests', 'calls', 'virtualMs'] as const) total[key] += simulation[key]
  for (const [fault, times] of Object.entries(simulation.faults)) happened[fault] = (happened[fault] ?? 0) + times
  leftOut = simulation.leftOut
  if (values.trace) console.info(simulation.trace.join('\n'))
  for (const violation of simulation.violations) console.info(`seed ${seed}: ${violation}`)
  if (simulation.violations.length > 0 && violations === 0 && !values.stop) await printSmallest(options)
  violations += simulation.violations.length
  const done = seed - from + 1
  if (done % 500 === 0 && done < count) console.error(`${done} of ${count} seeds, ${violations} violations`)
}
console.info(`Not simulated:\n${leftOut.map((part) => `- ${part}`).join('\n')}`)
console.info(`Faults: ${JSON.stringify(happened)}`)
console.info(JSON.stringify({ profile, ...total }))
console.info(`${count} seeds, ${violations} violations, traces ${all.digest('hex')}`)
process.exitCode = violations === 0 ? 0 : 1

async function printSmallest(options: SimulationOptions): Promise<void> {
  const { options: smallest, simulation } = await shrink(options)
  const { seed, clients, scenarios, onlyFaults, disturbs } = smallest
  const flags = [
    `--seeds 1 --from ${seed} --profile ${profile}`,
    ...(clients === undefined ? [] : [`--clients ${clients.join(',')}`]),
    ...(scenarios === undefined ? [] : [`--scenarios ${scenarios}`]),
    ...(onlyFaults ? [`--faults '${[...onlyFaults].join(',')}'`] : []),
    ...(disturbs === false ? ['--undisturbed'] : []),
    ...(values['used-ids'] ? ['--used-ids'] : []),
  ]
  console.info(`The smallest form: ${simulation.operations} operations, ${simulation.violations[0]}`)
  console.info(`npm run simulate -- ${flags.join(' ')} --trace`)
}
