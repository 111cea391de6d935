/** `portico dev`. */

import { createBudget } from '../../shared/json-schema/check.ts'
import { exampleOf } from '../../shared/json-schema/examples/example.ts'
import { isObject } from '../../shared/lib/json.ts'
import { type PublishedWorkflow, type ReadyApi, runDev } from '../dev/run-dev.ts'
import { shellWord } from '../output/advice.ts'
import { printable } from '../output/terminal.ts'
import { PROGRAM } from '../program-name.ts'
import { DEFAULT_URL, readSettings } from '../settings.ts'

export interface DevFlags {
  catalog?: string
  port?: string
  watch?: boolean
}

const DEFAULT_CATALOG = 'default'

// Where Bun puts the files that a single-file executable contains.
const isExecutable = import.meta.url.startsWith('file:///$bunfs/')

export async function dev(worker: string[], { catalog, port, watch }: DevFlags): Promise<void> {
  const settings = await readSettings({ ...(catalog !== undefined && { catalog }) }, process.env, process.cwd())
  const [command, ...args] = worker
  const code = await runDev({
    env: {
      ...process.env,
      ...(catalog !== undefined && { SERVICE_CATALOG_ID: catalog }),
      ...(port !== undefined && { SERVICE_PORT: port }),
    },
    defaultCatalog: settings.catalog ?? DEFAULT_CATALOG,
    // Without a command it starts the service.
    service: isExecutable ? [] : [process.argv[1] ?? ''],
    worker: command === undefined ? null : { command, args },
    watch: watch === true ? process.cwd() : null,
    whenReady: (api) => readyMessage(api, command !== undefined),
    whenPublished: publishedMessage,
  })
  process.exit(code)
}

function readyMessage({ url, catalog, address, uiUrl, docs, console }: ReadyApi, withWorker: boolean): string {
  const lines = [
    '',
    `API             ${url}`,
    ...(console ? [`Console         ${url}/console`] : []),
    ...(docs ? [`API reference   ${url}/docs`] : []),
    ...(uiUrl === null ? [] : [`Temporal web UI ${uiUrl}`]),
    `Temporal        ${address}`,
    `Catalog         ${catalog} (the task queue of the worker)`,
    '',
    ...(withWorker
      ? []
      : [
          'This has started no worker. Stop it with Ctrl-C and start it with your worker:',
          `  ${PROGRAM} dev --catalog ${shellWord(catalog)} -- node worker.ts`,
          'or start the worker in another terminal:',
          `  ENGINE_ADDRESS=${address} TEMPORAL_ADDRESS=${address} SERVICE_CATALOG_ID=${shellWord(catalog)} node worker.ts`,
          '',
        ]),
  ]
  return lines.join('\n')
}

function publishedMessage({ url, withToken }: ReadyApi, workflows: PublishedWorkflow[]): string {
  const [first] = workflows
  const flag = url === DEFAULT_URL ? '' : ` --url ${url}`
  // The token must not appear in the terminal.
  const token = withToken ? [`  export PORTICO_TOKEN="\${SERVICE_API_AUTH_TOKEN%%,*}"`] : []
  const names = workflows.map(({ name }) => name).join(', ')
  return [
    '',
    `The worker serves ${printable(names)}. Try it in another terminal:`,
    ...token,
    `  ${PROGRAM} catalog${flag}`,
    `  ${PROGRAM} run ${shellWord(printable(first?.name ?? ''))} ${exampleInput(first?.inputSchema)}${flag}`,
    '',
  ].join('\n')
}

// Takes a fraction of a second.
const STEPS = 1_000_000

/** `--input` with an example that the schema allows; with a blank to fill in if there is no such example. */
export function exampleInput(schema: unknown): string {
  const example = isObject(schema) ? exampleOf(schema, createBudget(STEPS)) : null
  return `--input ${example?.isValid ? shellWord(printable(JSON.stringify(example.value))) : "'…'"}`
}
