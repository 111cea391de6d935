/** Workflows that the programs of mcp-*.test.ts call. Most names are those that the conformance suite expects. */
import { ApplicationFailure, sleep } from '@temporalio/workflow'
import { ask } from '../../../src/worker/ask.ts'

export {
  askTwice as multi_input,
  confirm as confirm_delete,
  fail as test_error_handling,
  failLater as failing_job,
  returnMuch as protocol_error_job,
  returnText as test_logging_tool,
  returnText as test_simple_text,
  returnText as test_streaming_elicitation,
  sleepWithProgress as test_tool_with_progress,
  sleepWithResult as slow_compute,
}

export async function greet({ name }: { name: string }): Promise<string> {
  return `Hello, ${name}!`
}

interface Computation {
  seconds: number
  label?: string | undefined
}

async function sleepWithResult({ seconds, label = '' }: Computation): Promise<string> {
  await sleep(seconds * 1000)
  return `computed ${label}`
}

async function failLater(_given: object): Promise<never> {
  await sleep(1000)
  return fail({})
}

async function fail(_given: object): Promise<never> {
  throw ApplicationFailure.nonRetryable('This tool intentionally returns an error for testing', 'Intended')
}

async function returnText(_given: object): Promise<string> {
  return 'This is a simple text response for testing.'
}

/** The worker stores the output elsewhere, where the service cannot read it. */
async function returnMuch(_given: object): Promise<string> {
  await sleep(1000)
  return 'x'.repeat(200_000)
}

/** Long enough for three notifications: one at the beginning, and then one every ten seconds. */
async function sleepWithProgress(_given: object): Promise<string> {
  await sleep(21_500)
  return 'done'
}

async function confirm(_given: object): Promise<unknown> {
  return ask({ message: 'Delete it?', schema: CONFIRMATION })
}

async function askTwice(_given: object): Promise<unknown[]> {
  return Promise.all(['First?', 'Second?'].map((message) => ask({ message, schema: CONFIRMATION })))
}

const CONFIRMATION = { type: 'object', properties: { confirm: { type: 'boolean' } }, required: ['confirm'] }
