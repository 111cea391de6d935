import { UsageError } from '../failures.ts'
import { readObjectArgument } from './json-argument.ts'

/** Fields of a start that the command line sets in another way, or not at all. */
const NOT_OPTIONS = new Map([
  ['workflowName', 'it is the first argument of the command'],
  ['input', 'use --input'],
  ['args', 'use --arg'],
  ['workflowId', 'use --id'],
  ['catalog', 'use --catalog'],
  ['taskQueue', 'use --catalog'],
  ['idempotencyKey', 'use --key'],
  ['timeout', 'use --timeout of portico run'],
  ['timeoutMs', 'use --timeout of portico run'],
  // An option of the client.
  ['signal', 'it is not a start option'],
])

/**
 * The start options of `--options`. Throws a `UsageError` for fields with a flag of their own, because one value would
 * silently replace the other.
 */
export async function readStartOptions(value: string, signal: AbortSignal): Promise<Record<string, unknown>> {
  const options = await readObjectArgument('--options', value, signal)
  const issues = [...NOT_OPTIONS]
    .filter(([field]) => Object.hasOwn(options, field))
    .map(([field, reason]) => `--options must not contain ${field}: ${reason}`)
  if (issues.length > 0) throw new UsageError(issues.join('\n'))
  return options
}
