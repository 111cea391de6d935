/** `npm run dev`: an engine, the example worker and the API, until Ctrl-C or until one of them ends. */
import { fileURLToPath } from 'node:url'
import { runDev } from '../src/cli/dev/run-dev.ts'
import { withoutBundleReport } from './bundle-report.ts'
import { firstSteps } from './first-steps.ts'

const code = await runDev({
  env: process.env,
  defaultCatalog: 'examples',
  service: pathOf('../src/runtime/node/index.ts'),
  worker: { command: process.execPath, args: [pathOf('../examples/worker.ts')], filter: withoutBundleReport },
  whenReady: () => null,
  whenPublished: ({ url, ...facts }) => firstSteps(url, facts),
  mustPublish: true,
})
process.exit(code)

function pathOf(file: string): string {
  return fileURLToPath(new URL(file, import.meta.url))
}
