import { availableParallelism } from 'node:os'
import { configDefaults, defineConfig } from 'vitest/config'
import { BaseSequencer, type TestSpecification } from 'vitest/node'

// No other test runs at the same time as these. They measure CPU time, use every processor for minutes, or need each of
// thousands of responses in time from an engine that has nothing else to do.
const ALONE = [
  'lab/long/schemas*.test.ts',
  'lab/long/memory.test.ts',
  'lab/long/many-calls.test.ts',
  'lab/long/random.test.ts',
  'lab/long/bursts.test.ts',
  'lab/long/many-streams.test.ts',
  'lab/long/cpu-time.test.ts',
]

// It uses two processors for half a minute, and waits for nothing.
const SIMULATOR = 'test/simulator/simulator.test.ts'

// These register a global tracer.
const ISOLATED = ['test/worker/otel-spans.test.ts']

// They also wait for servers, so two processors can run five files at a time.
const FILES_AT_ONCE = Math.max(5, availableParallelism())

// Only a test that hangs takes this long. A busy machine with two cores can take ten times as long as an idle one.
const PATIENT = { testTimeout: 180_000, hookTimeout: 180_000, expect: { poll: { timeout: 20_000 } } }

// What takes two minutes on an idle machine.
const VERY_PATIENT = { testTimeout: 900_000, hookTimeout: 900_000 }

const onTheEngine = {
  ...PATIENT,
  globalSetup: 'test/support/one-engine.ts',
  setupFiles: 'test/support/setup.ts',
}

// Files that mostly compute alternate with files that mostly wait,
// so that five at a time keep two cores busy until the end.
const LONGEST_FIRST = [
  'long/promptness',
  'long/waiting',
  'long/soak',
  'long/simulator',
  'long/cutting-proxies',
  'long/no-workers',
  'long/many-runs-and-events',
  'long/polls',
  'long/visibility-rate',
  'long/archive-all',
  'long/installed',
  'long/first-hour',
  'long/node-22',
  'long/rolling-restart',
  'fuzz/fuzz',
  'faults/races',
  'worker/catalog-lost',
  'runtimes/deno',
  'runtimes/bun',
  'worker/started-unchecked',
  'runtimes/node',
  'runtimes/process-lifecycle',
  'compatibility/typescript',
  'runtimes/workerd',
  'worker/run-worker',
  'worker/catalog-versions',
  'worker/local-traces',
  'faults/lost-messages/signals',
  'faults/lost-messages/commands',
  'engines/grpc',
  'engines/http-api',
  'compatibility/values',
  'faults/secrets',
  'worker/archiver',
  'runtimes/scripts',
  'runtimes/dev',
  'runtimes/cli',
  'runtimes/disconnects',
  'worker/redacted-traces',
  'worker/order-trace',
  'faults/no-pollers',
]

class LongestFirst extends BaseSequencer {
  override async sort(files: TestSpecification[]): Promise<TestSpecification[]> {
    const rank = ({ moduleId }: TestSpecification) => {
      const at = LONGEST_FIRST.findIndex((name) => moduleId.endsWith(`/${name}.test.ts`))
      return at === -1 ? LONGEST_FIRST.length : at
    }
    const others = await super.sort(files)
    return others.toSorted((one, other) => rank(one) - rank(other))
  }
}

export default defineConfig({
  test: {
    sequence: { sequencer: LongestFirst },
    projects: [
      {
        test: {
          ...PATIENT,
          name: 'unit',
          include: ['test/unit/**/*.test.ts', 'test/{architecture,source-files}.test.ts'],
          // Unit tests keep no global state, so they can share modules.
          // Loading modules in each file would take two thirds of the time.
          isolate: false,
          maxWorkers: FILES_AT_ONCE,
          sequence: { groupOrder: 0 },
        },
      },
      {
        test: {
          ...onTheEngine,
          name: 'real',
          include: [
            'test/{engines,traces,runtimes,faults,compatibility,worker,simulator}/**/*.test.ts',
            'lab/fuzz/**/*.test.ts',
          ],
          exclude: [...configDefaults.exclude, ...ISOLATED, SIMULATOR],
          // Loading the worker SDK takes more than a second of CPU time.
          isolate: false,
          maxWorkers: FILES_AT_ONCE,
          sequence: { groupOrder: 1 },
        },
      },
      {
        test: {
          ...onTheEngine,
          name: 'isolated',
          include: ISOLATED,
          maxWorkers: FILES_AT_ONCE,
          sequence: { groupOrder: 1 },
        },
      },
      { test: { name: 'simulator', include: [SIMULATOR], sequence: { groupOrder: 4 } } },
      { test: { ...onTheEngine, name: 'image', include: ['test/image/**/*.test.ts'] } },
      {
        test: {
          ...onTheEngine,
          name: 'clients',
          include: ['test/{clients,releases}/**/*.test.ts'],
          ...VERY_PATIENT,
          // Most files wait for downloads and for compilers.
          maxWorkers: 2,
        },
      },
      { test: { ...onTheEngine, name: 'world', include: ['test/world/**/*.test.ts'], ...VERY_PATIENT } },
      {
        test: {
          ...onTheEngine,
          name: 'long',
          include: ['lab/long/**/*.test.ts'],
          exclude: [...configDefaults.exclude, ...ALONE],
          ...VERY_PATIENT,
          maxWorkers: 2,
          sequence: { groupOrder: 3 },
        },
      },
      {
        test: {
          ...onTheEngine,
          name: 'alone',
          include: ALONE,
          ...VERY_PATIENT,
          maxWorkers: 1,
          sequence: { groupOrder: 2 },
        },
      },
      { test: { name: 'coverage', include: ['test/coverage.test.ts'] } },
    ],
  },
})
