/** `portico completion` prints a script for a shell, which calls `portico complete -- …` when someone presses Tab. */
import tab from '@bomb.sh/tab/commander'
import type { Command } from 'commander'
import { createClient } from '../client/create-client.ts'
import { readSettings } from './settings.ts'

// A person waits for it.
const TIMEOUT_MS = 1000

/** Adds both commands. Call it last: it reads the others. */
export async function addCompletion(program: Command, args: readonly string[]): Promise<void> {
  const completions = tab(program, { completionCommandName: 'completion' })
  const name = args.slice(2).find((arg) => WITH_WORKFLOW.includes(arg))
  if (args[0] !== 'complete' || name === undefined) return
  const names = await workflowNames()
  completions.commands.get(name)?.argument('workflow', (complete) => {
    for (const workflow of names) complete(workflow, '')
  })
}

const WITH_WORKFLOW = ['run', 'start']

/** The workflows of the catalog. Empty if the service does not respond: a completion must not print an error. */
async function workflowNames(): Promise<string[]> {
  try {
    const { url, token, catalog, isUrlOfFile } = await readSettings({}, process.env, process.cwd())
    // Tab in the folder of a cloned repository must not call whatever its file names.
    if (isUrlOfFile) return []
    const client = createClient({ url, retryMs: 0, token: token ?? undefined, catalog: catalog ?? undefined })
    const { workflows } = await client.catalog(undefined, { timeoutMs: TIMEOUT_MS })
    // A shell would split or expand a name with other characters.
    return workflows.map(({ name }) => name).filter((name) => /^[\w.@/:-]+$/.test(name))
  } catch {
    return []
  }
}
