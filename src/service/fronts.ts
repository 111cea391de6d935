/** The fronts: protocols and pages beside the REST API. Without its line here, a front does not exist. */
import { uiMessages } from './fronts/chat/ui-messages.ts'
import { consoleEndpoints } from './fronts/console/endpoints.ts'
import { docsEndpoints } from './fronts/docs/endpoints.ts'
import { challengeEndpoint, hookEndpoint } from './fronts/hooks/endpoint.ts'
import { linkEndpoints } from './fronts/links/endpoints.ts'
import { mcpEndpoints } from './fronts/mcp/endpoints.ts'
import type { Endpoint } from './http/endpoint.ts'
import type { StreamFormat } from './http/events/stream-events.ts'

interface Front {
  endpoints?: readonly Endpoint[]
  /** Sends streams in the format `ui-message`. */
  uiMessages?: StreamFormat
}

const FRONTS: readonly Front[] = [
  { endpoints: linkEndpoints },
  { endpoints: mcpEndpoints },
  { endpoints: [hookEndpoint, challengeEndpoint] },
  { endpoints: docsEndpoints },
  { endpoints: consoleEndpoints },
  { uiMessages },
]

export const FRONT_ENDPOINTS: readonly Endpoint[] = FRONTS.flatMap(({ endpoints = [] }) => endpoints)

/** Null without the front for it. */
export const UI_MESSAGES: StreamFormat | null = FRONTS.find(({ uiMessages }) => uiMessages)?.uiMessages ?? null
