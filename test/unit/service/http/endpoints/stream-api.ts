import type {
  FeedEvent,
  FollowStreamCommand,
  PublishCommand,
  ReadStreamCommand,
  StreamBatch,
} from '../../../../../src/service/model/stream.ts'
import type { Workflows } from '../../../../../src/service/verbs.ts'
import { makeApi } from '../api.ts'

export const RUN_ID = '0198c0de-0000-7000-8000-00000000000a'
export const NEXT_ID = '0198c0de-0000-7000-8000-00000000000b'
export const PATH = '/workflow/w/stream'
export const PINNED = `/workflow/w/runs/${RUN_ID}/stream`
export const JSON_ONLY = { Accept: 'application/json' }
export const WORKFLOW = { workflowId: 'w', runId: RUN_ID, status: 'running', from: 0 } as const
export const FIRST: FeedEvent = { type: 'workflow', workflow: WORKFLOW }
export const DONE: FeedEvent = {
  type: 'done',
  done: { workflowId: 'w', runId: RUN_ID, status: 'completed', completedAt: new Date(0), next: 3, complete: true },
}

const BATCH: StreamBatch = {
  ...{ workflowId: 'w', runId: RUN_ID, status: 'running' },
  ...{ items: [], next: RUN_ID, truncated: null, done: null },
}

/** The verbs of streams, which record their commands. An error in `events` is thrown after those before it. */
export function makeStreams(events: (FeedEvent | Error | Promise<FeedEvent>)[] = [], verbs: Partial<Workflows> = {}) {
  const followed: FollowStreamCommand[] = []
  const read: ReadStreamCommand[] = []
  const published: PublishCommand[] = []
  async function* feed(): AsyncGenerator<FeedEvent> {
    for (const event of events) {
      if (event instanceof Error) throw event
      yield await event
    }
  }
  const api = makeApi({
    workflows: {
      async followStream(command) {
        followed.push(command)
        return { events: feed() }
      },
      async readStream(command) {
        read.push(command)
        return BATCH
      },
      async publish(command) {
        published.push(command)
        return { workflowId: 'w', runId: RUN_ID }
      },
      ...verbs,
    },
  })
  return { ...api, followed, read, published }
}
