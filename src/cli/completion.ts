/** `portico completion` prints a script for a shell, which calls `portico complete -- …` when someone presses Tab. */
import tab from '@bomb.sh/tab/commander'
import type { Command } from 'commander'
import { createClient } from '../client/create-client.ts'
import type { Catalog } from '../client/responses.ts'
import { STATUS_NAMES } from './output/terminal.ts'
import { readSettings } from './settings.ts'

// Short, because somebody waits for the completion.
const TIMEOUT_MS = 1000

const WITH_WORKFLOW = ['run', 'start', 'validate']
const WITH_FILTER = ['list', 'count']
const WITH_HANDLER = new Map([
  ['signal', 'signals'],
  ['query', 'queries'],
  ['update', 'updates'],
] as const)

/** Adds both commands. Call it last: it reads the others. */
export async function addCompletion(program: Command, args: readonly string[]): Promise<void> {
  const { commands } = tab(program, { completionCommandName: 'completion' })
  if (args[0] !== 'complete') return withoutReadonly()
  for (const name of WITH_FILTER) commands.get(name)?.option('status', '', offer(STATUS_NAMES))
  const listed = [...WITH_WORKFLOW, ...WITH_FILTER, ...WITH_HANDLER.keys()]
  if (!args.slice(2).some((arg) => listed.includes(arg))) return
  const workflows = await readWorkflows()
  const names = offer(workflows.map(({ name }) => name))
  for (const name of WITH_WORKFLOW) commands.get(name)?.argument('workflow', names)
  for (const name of WITH_FILTER) commands.get(name)?.option('workflow', '', names)
  for (const [name, kind] of WITH_HANDLER) {
    const handlers = workflows.flatMap((workflow) => workflow[kind].map(({ name }) => name))
    commands.get(name)?.argument('name', offer(handlers))
  }
}

function offer(values: readonly string[]) {
  return (complete: (value: string, description: string) => void): void => {
    // A shell would split or expand a name with other characters.
    for (const value of values.filter((name) => /^[\w.@/:-]+$/.test(name))) complete(value, '')
  }
}

/** Removes `readonly` from the script for bash: a shell that reads it twice cannot declare constants again. */
function withoutReadonly(): void {
  const { log } = console
  console.log = (script: string) => log(script.replaceAll(/^readonly (?=ShellCompDirective)/gm, ''))
}

/** The workflows of the catalog. Empty if the service does not respond: a completion must not print an error. */
async function readWorkflows(): Promise<Catalog['workflows']> {
  try {
    const { url, token, namespace, catalog, isUrlOfFile } = await readSettings({}, process.env, process.cwd())
    // Tab in a cloned repository must not call the URL of that repository's settings file.
    if (isUrlOfFile) return []
    const client = createClient({
      url,
      retryMs: 0,
      token: token ?? undefined,
      namespace: namespace ?? undefined,
      catalog: catalog ?? undefined,
    })
    return (await client.catalog(undefined, { timeoutMs: TIMEOUT_MS })).workflows
  } catch {
    return []
  }
}
