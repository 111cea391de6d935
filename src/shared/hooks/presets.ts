/** How the senders of webhooks sign their events, as data: docs/hooks.md. */

/** What `scheme` of a hook can be. A preset is such an object with a name. */
export interface SignatureScheme {
  /** Default: `sha256`. */
  hmac?: 'sha1' | 'sha256' | 'sha512'
  /** `encoding`: `hex` unless it is set. */
  signature: HeaderValue & { encoding?: 'hex' | 'base64' }
  /** With `{body}` and, if need be, `{id}`, `{timestamp}` and `{url}`. Default: `{body}`. */
  signed?: string
  /** `unit`: seconds unless it is set. `toleranceSeconds`: 300 unless it is set. */
  timestamp?: Partial<HeaderValue> & ValueSource & { unit?: 's' | 'ms' | 'iso'; toleranceSeconds?: number }
  /** What identifies an event that is sent again. Default: the hash of the body. */
  id?: ValueSource
  /** Those that workers receive. */
  headers?: readonly string[]
  /** Whether the sender also sends forms, whose field `payload` is JSON. */
  forms?: boolean
}

/** Where a header has a value: in all of it, or in the entries of a list that begin with `<key>=`. */
export interface HeaderValue {
  header: string
  key?: string
  /** Default: `,`. */
  separator?: ',' | ';' | ' '
  /** What comes before each value. */
  prefix?: string
}

/** A header, or a JSON Pointer into the body. */
export interface ValueSource {
  header?: string
  body?: string
}

/** How a sender makes sure that the URL is that of a receiver which wants its events. */
export const CHALLENGES = ['hub', 'query', 'okta', 'graph', 'eventgrid', 'cloudevents', 'zoom', 'slack'] as const

export type Challenge = (typeof CHALLENGES)[number]

interface Preset extends SignatureScheme {
  /** The header and the value of an event that only tries the hook out. */
  ping?: readonly [header: string, value: string]
}

/** https://github.com/standard-webhooks/standard-webhooks; Svix has names of its own for the headers. */
export function standardScheme(prefix: 'webhook' | 'svix'): SignatureScheme {
  return {
    signature: { header: `${prefix}-signature`, separator: ' ', prefix: 'v1,', encoding: 'base64' },
    signed: '{id}.{timestamp}.{body}',
    timestamp: { header: `${prefix}-timestamp` },
    id: { header: `${prefix}-id` },
    headers: [`${prefix}-id`, `${prefix}-timestamp`],
  }
}

export const PRESETS = {
  standard: standardScheme('webhook'),
  // https://docs.stripe.com/webhooks#verify-manually
  stripe: {
    signature: { header: 'Stripe-Signature', key: 'v1' },
    signed: '{timestamp}.{body}',
    timestamp: { header: 'Stripe-Signature', key: 't' },
    id: { body: '/id' },
  },
  // https://docs.github.com/en/webhooks/using-webhooks/validating-webhook-deliveries
  github: {
    signature: { header: 'X-Hub-Signature-256', prefix: 'sha256=' },
    id: { header: 'X-GitHub-Delivery' },
    headers: [
      'X-GitHub-Event',
      'X-GitHub-Delivery',
      'X-GitHub-Hook-Id',
      'X-GitHub-Hook-Installation-Target-Id',
      'X-GitHub-Hook-Installation-Target-Type',
    ],
    forms: true,
    ping: ['X-GitHub-Event', 'ping'],
  },
  // https://docs.slack.dev/authentication/verifying-requests-from-slack
  slack: {
    signature: { header: 'X-Slack-Signature', prefix: 'v0=' },
    signed: 'v0:{timestamp}:{body}',
    timestamp: { header: 'X-Slack-Request-Timestamp' },
    id: { body: '/event_id' },
    headers: ['X-Slack-Request-Timestamp', 'X-Slack-Retry-Num', 'X-Slack-Retry-Reason'],
    forms: true,
  },
  // https://shopify.dev/docs/apps/build/webhooks/subscribe/https
  shopify: {
    signature: { header: 'X-Shopify-Hmac-Sha256', encoding: 'base64' },
    id: { header: 'X-Shopify-Webhook-Id' },
    headers: ['X-Shopify-Topic', 'X-Shopify-Shop-Domain', 'X-Shopify-Webhook-Id', 'X-Shopify-Event-Id'],
  },
  // https://linear.app/developers/webhooks
  linear: {
    signature: { header: 'Linear-Signature' },
    timestamp: { body: '/webhookTimestamp', unit: 'ms' },
    id: { header: 'Linear-Delivery' },
    headers: ['Linear-Event', 'Linear-Delivery'],
  },
  // https://support.atlassian.com/bitbucket-cloud/docs/manage-webhooks/
  bitbucket: {
    signature: { header: 'X-Hub-Signature', prefix: 'sha256=' },
    id: { header: 'X-Request-UUID' },
    headers: ['X-Event-Key', 'X-Hook-UUID', 'X-Request-UUID', 'X-Attempt-Number'],
  },
  // https://developer.atlassian.com/cloud/jira/platform/webhooks/
  jira: {
    signature: { header: 'X-Hub-Signature', prefix: 'sha256=' },
    id: { header: 'X-Atlassian-Webhook-Identifier' },
    headers: ['X-Atlassian-Webhook-Identifier', 'X-Atlassian-Webhook-Retry'],
  },
  // https://www.typeform.com/developers/webhooks/secure-your-webhooks/
  typeform: {
    signature: { header: 'Typeform-Signature', prefix: 'sha256=', encoding: 'base64' },
    id: { body: '/event_id' },
  },
  // https://developer.paddle.com/webhooks/signature-verification
  paddle: {
    signature: { header: 'Paddle-Signature', key: 'h1', separator: ';' },
    signed: '{timestamp}:{body}',
    timestamp: { header: 'Paddle-Signature', key: 'ts', separator: ';' },
    id: { body: '/event_id' },
  },
  // https://developers.zoom.us/docs/api/webhooks/
  zoom: {
    signature: { header: 'x-zm-signature', prefix: 'v0=' },
    signed: 'v0:{timestamp}:{body}',
    timestamp: { header: 'x-zm-request-timestamp' },
    headers: ['x-zm-request-timestamp'],
  },
  // https://developers.facebook.com/docs/graph-api/webhooks/getting-started
  meta: { signature: { header: 'X-Hub-Signature-256', prefix: 'sha256=' } },
  // https://docs.sentry.io/organization/integrations/integration-platform/webhooks/
  sentry: {
    signature: { header: 'Sentry-Hook-Signature' },
    id: { header: 'Request-ID' },
    headers: ['Sentry-Hook-Resource', 'Sentry-Hook-Timestamp', 'Request-ID'],
  },
  // https://vercel.com/docs/webhooks/webhooks-api
  vercel: { hmac: 'sha1', signature: { header: 'x-vercel-signature' }, id: { body: '/id' } },
  // https://developers.intercom.com/docs/references/webhooks/webhook-models
  intercom: { hmac: 'sha1', signature: { header: 'X-Hub-Signature', prefix: 'sha1=' }, id: { body: '/id' } },
  // https://developer.calendly.com/api-docs/4c305798a61d3-webhook-signatures
  calendly: {
    signature: { header: 'Calendly-Webhook-Signature', key: 'v1' },
    signed: '{timestamp}.{body}',
    timestamp: { header: 'Calendly-Webhook-Signature', key: 't' },
  },
} as const satisfies Record<string, Preset>

export type PresetName = keyof typeof PRESETS

/** The object that a scheme stands for; `token` has no signature. */
export function objectOf(scheme: PresetName | SignatureScheme | 'token'): Partial<Preset> {
  if (scheme === 'token') return { forms: true }
  return typeof scheme === 'string' ? PRESETS[scheme] : scheme
}
