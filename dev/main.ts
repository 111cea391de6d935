/** `npm run dev`: an engine, the example worker, the API and a page, until Ctrl-C or until one of them ends. */
import { fileURLToPath } from 'node:url'
import { runDev } from '../src/cli/dev/run-dev.ts'
import { withoutBundleReport } from './bundle-report.ts'
import { serveChatPage } from './chat-page.ts'
import { firstSteps } from './first-steps.ts'

const chatPage = await serveChatPage()
const { SERVICE_CORS_ORIGINS: origins } = process.env
const code = await runDev({
  env: { ...process.env, SERVICE_CORS_ORIGINS: [origins, chatPage.origins].filter(Boolean).join() },
  defaultCatalog: 'examples',
  service: [pathOf('../src/service/runtime/node/index.ts')],
  worker: { command: process.execPath, args: [pathOf('../examples/worker.ts')], filter: withoutBundleReport },
  whenReady: () => null,
  whenPublished: ({ url, ...facts }) => firstSteps(url, { ...facts, chatPageUrl: chatPage.url }),
  mustPublish: true,
})
process.exit(code)

function pathOf(file: string): string {
  return fileURLToPath(new URL(file, import.meta.url))
}
