/** Every variable of the configuration: the value that tests set, and where that value may appear. */

/**
 * `answers`: responses; `destinations`: where a trace is, in the response about its run; `printed`:
 * outside the log, if the service cannot start.
 */
type Place = 'answers' | 'destinations' | 'log' | 'printed'

export interface Variable {
  /** A value that is found wherever it appears; null for flags and our own words, which reveal nothing. */
  mark: string | null
  /** A credential: it appears nowhere, not even in the output of a worker. */
  isSecret?: boolean
  /** Where the value may appear, each place with its reason. Everywhere else it may not. */
  may?: Partial<Record<Place, string>>
}

const nowhere = (mark: string): Variable => ({ mark })
const secret = (mark: string): Variable => ({ mark, isSecret: true })
const word: Variable = { mark: null }

const LIMIT = { answers: 'an error names the limit that was exceeded' }
const DESTINATION = { destinations: 'the worker has published them in its catalog (contract §5)' }
const NAMESPACE = {
  destinations: 'the key of a stored trace begins with it (docs/trace-protocol.md)',
  log: 'the audit log names the namespace of a request',
}
const RENEWED = { log: 'a warning names new files that cannot be used' }
const ENGINE = { log: '`listening` and the errors of the connection name it', printed: 'so do they' }
const LISTENS = {
  log: '`listening` has the address, also of a port that the system chose',
  printed: 'the reason why the service could not listen there',
}

export const VARIABLES: Readonly<Record<string, Variable>> = {
  ENGINE_ADDRESS: { mark: 'marked-engine.invalid:7233', may: ENGINE },
  ENGINE_NAMESPACE: {
    mark: 'marked-namespace',
    may: NAMESPACE,
  },
  ENGINE_NAMESPACES: {
    mark: 'marked-other-namespace',
    may: NAMESPACE,
  },
  ENGINE_API_KEY: secret('marked-api-key'),
  ENGINE_TLS: word,
  ENGINE_TLS_CA: { mark: '/marked-tls/marked-ca.pem', may: RENEWED },
  ENGINE_TLS_CERT: { mark: '/marked-tls/marked-cert.pem', may: RENEWED },
  ENGINE_TLS_KEY: { mark: '/marked-tls/marked-key.pem', may: RENEWED },
  ENGINE_TLS_SERVER_NAME: nowhere('marked-tls-name.test'),
  ENGINE_TRANSPORT: word,
  ENGINE_HTTP_URL: { mark: 'http://marked-engine-http.invalid/marked-base', may: ENGINE },
  ENGINE_CODEC_ENDPOINT: nowhere('http://marked-codec.invalid/marked-codec'),
  ENGINE_UI_URL: {
    mark: 'http://marked-ui.invalid/marked-ui',
    may: { answers: '`GET /capabilities` has the address of Temporal’s UI' },
  },

  SERVICE_CATALOG_ID: {
    mark: 'marked-catalog',
    may: { answers: 'clients send it as `catalog`', log: '`listening` and the errors of a catalog name it' },
  },
  SERVICE_PORT: { mark: '61789', may: LISTENS },
  SERVICE_HOST: { mark: 'marked-host.invalid', may: LISTENS },
  SERVICE_BASE_PATH: {
    mark: '/marked-base-path',
    may: { answers: 'Location begins with it', log: '`listening` has the URL' },
  },
  SERVICE_API_AUTH_TOKEN: secret('marked-token,marked-second-token'),
  SERVICE_ALLOW_ANONYMOUS: word,
  // No secret: it has the hashes of tokens. The service starts with one of the two.
  SERVICE_POLICY: word,
  SERVICE_POLICY_FILE: nowhere('/marked-policies/marked-policy.json'),
  SERVICE_AUDIT: word,
  SERVICE_SIGNING_KEY: secret('bWFya2VkLXNpZ25pbmcta2V5LW9mLTMyLWJ5dGVzISE'),
  SERVICE_PUBLIC_URL: { mark: 'https://marked-public.test', may: { answers: 'links begin with it' } },
  SERVICE_NAME: nowhere('marked-service-name'),
  SERVICE_FORWARD_HEADERS: nowhere('x-marked-forwarded'),
  SERVICE_CORS_ORIGINS: {
    mark: 'https://marked-origin.test',
    may: { answers: 'Access-Control-Allow-Origin, for pages of that origin (contract §6)' },
  },
  SERVICE_MAX_BODY_BYTES: { mark: '2097169', may: LIMIT },
  SERVICE_MAX_UNPROVEN_BYTES: { mark: '33554467', may: LIMIT },
  // Numbers that may appear nowhere have seven digits: more than a port, the time of a wait, the decimals of a time in
  // the metrics, or the length of a response by chance.
  SERVICE_MAX_INFLIGHT: nowhere('7000879'),
  SERVICE_BULK_CONCURRENCY: nowhere('7000951'),
  SERVICE_MAX_PAYLOAD_BYTES: { mark: '2080771', may: LIMIT },
  SERVICE_RUN_MAX_TIMEOUT: { mark: '86400013', may: LIMIT },
  SERVICE_MAX_POLLS: nowhere('9000011'),
  SERVICE_STREAM_BUFFER_BYTES: nowhere('4194319'),
  SERVICE_STREAM_UPDATES: nowhere('9000019'),
  SERVICE_MESSAGE_TIMEOUT: nowhere('7000003'),
  SERVICE_CATALOG_TTL: nowhere('8000021'),
  SERVICE_RESULT_CACHE_BYTES: nowhere('16777259'),
  SERVICE_IDLE_TIMEOUT: nowhere('7000061'),
  SERVICE_SHUTDOWN_TIMEOUT: nowhere('7000009'),
  SERVICE_LOG_LEVEL: word,
  SERVICE_CHECK_OUTPUTS: word,
  SERVICE_METRICS_ON: word,
  SERVICE_CONSOLE_ON: word,
  SERVICE_DOCS_ON: word,
  SERVICE_MCP_ON: word,
  SERVICE_MCP_WAIT: nowhere('9000053'),
  SERVICE_MCP_MAX_OUTPUT: nowhere('9000067'),
  SERVICE_WEBHOOKS: nowhere('marked-webhooks'),
  SERVICE_WEBHOOKS_FILE: nowhere('/marked-webhooks/marked-webhooks.json'),
  SERVICE_METRICS_PORT: { mark: '61793', may: LISTENS },

  SERVICE_TRACE_REMOTE_ON: word,
  SERVICE_KVSTORE_URL: secret('https://marked-kv-user:marked-kv-password@marked-kv.invalid'),
  SERVICE_KVSTORE_TOKEN: secret('marked-kv-token'),
  SERVICE_STORAGE_ACCESS_KEY_ID: secret('marked-access-key'),
  SERVICE_STORAGE_SECRET_ACCESS_KEY: secret('marked-secret-key'),
  SERVICE_STORAGE_REGION: { mark: 'marked-region-1', may: DESTINATION },
  SERVICE_STORAGE_BUCKET: { mark: 'marked-bucket', may: DESTINATION },
  SERVICE_STORAGE_ENDPOINT: { mark: 'http://marked-storage.invalid', may: DESTINATION },
  SERVICE_TRACE_LOCAL_ON: word,
  SERVICE_TRACE_LOCAL_DIR: { mark: '/marked-traces', may: DESTINATION },
  SERVICE_TRACE_MAX_BYTES: {
    mark: '33554447',
    may: { answers: 'a warning of `trace-log` says why a source was skipped', log: 'so does its log line' },
  },

  ENGINE_MAX_CONCURRENT_ACTIVITY_TASK_EXECUTIONS: nowhere('1000003'),
  ENGINE_MAX_CONCURRENT_WORKFLOW_TASK_EXECUTIONS: nowhere('1000019'),
  ENGINE_MAX_CACHED_WORKFLOWS: nowhere('1000043'),
  ENGINE_MAX_CONCURRENT_ACTIVITY_TASK_POLLS: nowhere('1000049'),
  ENGINE_MAX_CONCURRENT_WORKFLOW_TASK_POLLS: nowhere('1000057'),
}

/** Adds secrets that the service does not use, such as those of a storage without its region. Every suite sets them. */
export function withUnusedSecrets(env: Readonly<Record<string, string | undefined>>): Record<string, string> {
  const names = [
    'ENGINE_API_KEY',
    'SERVICE_KVSTORE_URL',
    'SERVICE_KVSTORE_TOKEN',
    'SERVICE_STORAGE_ACCESS_KEY_ID',
    'SERVICE_STORAGE_SECRET_ACCESS_KEY',
    'SERVICE_STORAGE_BUCKET',
    'SERVICE_STORAGE_ENDPOINT',
  ]
  const marks = Object.fromEntries(names.map((name) => [name, VARIABLES[name]?.mark ?? '']))
  // By default an API key requires TLS.
  return {
    ...marks,
    ...(Object.keys(env).every((name) => !name.startsWith('ENGINE_TLS')) && { ENGINE_TLS: 'false' }),
    ...env,
  }
}

/** The variables of `env` whose value, or a part of it, appears in the text although it may not appear there. */
export function leaksIn(
  text: string,
  env: Readonly<Record<string, string | undefined>>,
  place: Place,
  { secretsOnly = false } = {},
): string[] {
  const lowerCase = text.toLowerCase()
  return Object.entries(VARIABLES)
    .filter(([, { mark, isSecret, may }]) => mark !== null && may?.[place] === undefined && (isSecret || !secretsOnly))
    .filter(([name]) => partsOf(env[name] ?? '').some(({ part, word }) => lowerCase.includes(part) && word.test(text)))
    .map(([name]) => name)
}

interface Part {
  /** In lower case. */
  part: string
  /** Matches the part as a whole word, in any case. */
  word: RegExp
}

// Every log line and every response of a test run is searched for the same few values.
const knownParts = new Map<string, Part[]>()

/** The value and its parts, except schemes, loopback addresses, and parts so short that they appear by chance. */
function partsOf(value: string): Part[] {
  const known = knownParts.get(value)
  if (known !== undefined) return known
  const parts = [value, ...value.split(/[\s,/@:]+/)]
    .filter((part) => part.length >= 5 && !/^(?:https|rediss?|127\.0\.0\.1|localhost)$/.test(part))
    .map((part) => ({ part: part.toLowerCase(), word: wholeWord(part) }))
  knownParts.set(value, parts)
  return parts
}

function wholeWord(part: string): RegExp {
  return new RegExp(`(?<![\\w-])${part.replace(/[.*+?^${}()|[\]\\/]/g, '\\$&')}(?![\\w-])`, 'i')
}
