/** What the endpoints about the service itself return. */

import type { CatalogEntry, HandlerEntry } from '../../../shared/wire/catalog.ts'
import {
  array,
  boolean,
  described,
  enumOf,
  integer,
  number,
  object,
  orNull,
  ref,
  string,
  time,
} from '../../http/openapi/schema.ts'
import type { CatalogListing } from '../../model/catalog-listing.ts'
import type { CallerRights, Capabilities } from '../../model/deployment.ts'
import type { QueuedTasks, TaskQueue } from '../../model/task-queue.ts'

const handler = {
  name: string,
  description: orNull(string),
  inputSchema: described(
    orNull(ref('PublishedSchema')),
    'Of the first argument; null if the worker does not publish it',
  ),
  inputOptional: described(
    orNull(boolean),
    'Whether the argument may be left out; null if the worker does not say. If false, a request without it is rejected',
  ),
  outputSchema: described(orNull(ref('PublishedSchema')), 'Of the result; null if the worker does not publish it'),
}

export const serviceSchemas = {
  Catalog: object<CatalogListing>({
    catalog: string,
    inputsChecked: described(boolean, 'Whether requests are checked against the schemas'),
    workflows: array(ref('CatalogEntry')),
    activities: described(
      array(ref('CatalogHandler')),
      'Those that can be started without a workflow; empty if the worker describes none',
    ),
  }),
  CatalogEntry: object<CatalogEntry>({
    ...handler,
    aliases: described(array(string), 'Other names of the workflow'),
    signals: array(ref('CatalogHandler')),
    queries: array(ref('CatalogHandler')),
    updates: array(ref('CatalogHandler')),
  }),
  CatalogHandler: object<HandlerEntry>(handler),
  PublishedSchema: {
    description: 'A JSON Schema, an object or a boolean: 2020-12, or the dialect that its `$schema` names',
  },
  TaskQueue: object<TaskQueue>({ taskQueue: string, workflows: ref('QueuedTasks'), activities: ref('QueuedTasks') }),
  QueuedTasks: object<QueuedTasks>({
    pollers: described(integer, 'Workers that have polled in the last five minutes'),
    lastPolledAt: orNull(time),
    backlog: described(integer, 'About how many tasks wait, also those of runs that have ended since'),
    backlogAgeMs: described(integer, 'How long the oldest one has waited'),
    addedPerSecond: described(number, 'In the last seconds'),
    dispatchedPerSecond: described(number, 'In the last seconds'),
  }),
  Capabilities: object<Capabilities>({
    version: described(string, 'Version of the service'),
    runtime: described(string, '`node`, `bun`, `deno`, `workerd`, or the name that an embedding application sets'),
    transport: enumOf(['grpc', 'http']),
    engine: object<Capabilities['engine']>({
      version: described(orNull(string), 'Null while the engine does not respond'),
      uiUrl: described(orNull(string), "Address of Temporal's web UI"),
    }),
    features: object<Capabilities['features']>({
      slashInIds: boolean,
      updateWithStart: boolean,
      asyncUpdates: boolean,
      pause: described(orNull(boolean), 'Null while the engine does not respond'),
      repair: described(orNull(boolean), 'Null while the engine does not respond'),
      schedules: described(orNull(boolean), 'Null while the engine does not respond'),
      standaloneActivities: described(orNull(boolean), 'Null while the engine does not respond'),
      codec: boolean,
      docs: boolean,
      console: boolean,
      mcp: boolean,
      tokens: boolean,
      links: boolean,
      traceRemote: boolean,
      traceKvstore: boolean,
      traceLocal: boolean,
    }),
    caller: orNull(object<CallerRights>({ name: string, can: array(string) })),
  }),
  AccessToken: object<{ token: string; expiresAt: Date }>({
    token: described(string, 'Begins with `ptk_`'),
    expiresAt: time,
  }),
  Health: object<{ status: string }>({ status: enumOf(['ok']) }),
  Readiness: object<{ status: string; engine: string }>({
    status: enumOf(['ok', 'unavailable']),
    engine: enumOf(['reachable', 'unreachable', 'misconfigured']),
  }),
  WebhookAccepted: object<{ workflowId: string; runId: string | null }>({
    workflowId: string,
    runId: described(orNull(string), 'Null if a signal was sent to the latest run, whichever that is'),
  }),
  WebhookAnswer: object<{ duplicate: boolean; ignored: boolean }>(
    {
      duplicate: described(boolean, 'Set for a repeated event: nothing was done'),
      ignored: described(boolean, 'Set for an event that the hook does not want: nothing was done'),
    },
    { optional: ['duplicate', 'ignored'] },
  ),
  WebhookChallenge: object<{ verification: string }>({ verification: described(string, 'What Okta has sent') }),
  OpenApi: { type: 'object', additionalProperties: true, description: 'An OpenAPI 3.1 document' },
}
