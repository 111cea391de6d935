import * as z from 'zod'
import { defineCatalog } from '../../src/worker/catalog/define-catalog.ts'
import type * as workflows from './workflows.ts'

/** The workflows of `workflows.ts`; most entries have no schema, so that inputs arrive unchanged. */
export const testCatalog = defineCatalog<typeof workflows>({
  echo: { description: 'Returns what it is given.', aliases: ['parrot'] },
  several: {},
  nothing: {},
  hugeNumbers: {},
  whoAmI: {},
  ownAttributes: {},
  sleepFor: { aliases: ['nap'], input: z.object({ ms: z.number().int().min(0) }), output: z.string() },
  neverEnds: {},
  manySteps: {},
  reportsProgress: {},
  everyKind: {},
  completesOutside: {},
  failWithCauses: {},
  failRetryable: {},
  failInActivity: {},
  failAfterRetries: {},
  failInChild: {},
  failCancelledUnasked: {},
  failTask: {},
  chain: {},
  chainOnSignal: {},
  replacesMemo: {},
  catchesCancel: {},
  cleansUp: {},
  waitForSignal: {},
  finishesInTime: { signals: { finish: {} } },
  messages: {
    signals: { add: { description: 'Gathers its arguments.' }, finish: {} },
    queries: {
      state: { output: z.object({ gathered: z.array(z.unknown()), value: z.unknown() }) },
      echo: { input: z.union([z.string(), z.number(), z.object({ a: z.number() })]), inputOptional: true },
    },
    updates: {
      set: { description: 'Sets the value.' },
      validated: { input: z.number(), output: z.number().max(1000) },
    },
  },
  asksPerson: {},
  streamSignals: {},
  becomes: {},
  streamItself: {},
  streamBig: {},
  streamFromActivity: {},
  streamParts: {},
  defaultHandlers: {},
  // Its output is longer, for `SERVICE_CHECK_OUTPUTS`. So may be that of the update `validated`.
  saysTrace: { output: z.string().max(3) },
})
