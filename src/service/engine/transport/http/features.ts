import type { EngineFeatures } from '../../../model/engine.ts'

/** What Temporal's HTTP API cannot do, and why. */
export const HTTP_API_FEATURES = {
  slashInIds: {
    supported: false,
    reason: 'over Temporal\'s HTTP API, ids and names must not contain "/" or be "." or ".."',
  },
  updateWithStart: { supported: false, reason: "Temporal's HTTP API has no ExecuteMultiOperation call" },
  asyncUpdates: { supported: false, reason: "Temporal's HTTP API has no PollWorkflowExecutionUpdate call" },
} as const satisfies EngineFeatures
