/** What workers of the older generation return. */
import { ApplicationFailure, condition, executeChild, setHandler, sleep } from '@temporalio/workflow'
import { next } from './messages.ts'
import { echoBack, rejects, succeedsLater } from './proxied.ts'
import { manySteps } from './steps.ts'

/**
 * Returns `output`, undefined when absent, in the wrapper of a workflow;
 * one of its steps returns one in that of an activity.
 */
export async function olderReturns({ output, trace }: { output?: unknown; trace?: unknown }): Promise<object> {
  await echoBack({ __output_activity_wrapper_version: 1, output: 'of a step', aggregations: null })
  return { __output_workflow_wrapper_version: 1, output, trace }
}

/** A step that is retried, a timer, a signal, and a child with a step of its own. */
export async function olderBusy({ trace }: { trace: unknown }): Promise<object> {
  let isNext = false
  setHandler(next, () => {
    isNext = true
  })
  await succeedsLater()
  await sleep(10)
  await condition(() => isNext)
  await executeChild(manySteps, { args: [{ n: 1 }] })
  return { __output_workflow_wrapper_version: 1, output: 'of the run', trace }
}

/** Fails as its step does, and says in the details where the trace is. */
export async function olderFails({ trace }: { trace: unknown }): Promise<never> {
  try {
    return await rejects()
  } catch (error) {
    if (!(error instanceof Error)) throw error
    throw ApplicationFailure.create({
      message: error.message,
      type: error.constructor.name,
      details: [{ trace }],
      cause: error,
    })
  }
}
