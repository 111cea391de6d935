/** Every variable of the configuration: what marks it in a test, and where its value may show. */

/** `destinations`: where a trace is, in the answer about its run; `printed`: outside the log, when the service can't start. */
type Place = 'answers' | 'destinations' | 'log' | 'printed'

export interface Variable {
  /** A value that is found wherever it is told; null for flags and words of ours, which tell nothing. */
  mark: string | null
  /** It opens doors: it shows nowhere, not even in what a worker prints to whoever runs it. */
  isSecret?: boolean
  /** Where the value may show, each place with its reason; everywhere else it may not. */
  may?: Partial<Record<Place, string>>
}

const nowhere = (mark: string): Variable => ({ mark })
const secret = (mark: string): Variable => ({ mark, isSecret: true })
const word: Variable = { mark: null }

const LIMIT = { answers: 'who is refused for a limit is told it' }
const DESTINATION = { destinations: 'they are told as the catalog of the worker has published them (contract §5)' }
const LISTENS = {
  log: '`listening` says where, a port of the system’s choice too',
  printed: 'or why it could not listen there',
}

export const VARIABLES: Readonly<Record<string, Variable>> = {
  ENGINE_ADDRESS: nowhere('marked-engine.invalid:7233'),
  ENGINE_NAMESPACE: {
    mark: 'marked-namespace',
    may: { destinations: 'the key of a stored trace begins with it (docs/protocol.md)' },
  },
  ENGINE_API_KEY: secret('marked-api-key'),
  ENGINE_TLS: word,
  ENGINE_TLS_CA: nowhere('/marked-tls/marked-ca.pem'),
  ENGINE_TLS_CERT: nowhere('/marked-tls/marked-cert.pem'),
  ENGINE_TLS_KEY: nowhere('/marked-tls/marked-key.pem'),
  ENGINE_TLS_SERVER_NAME: nowhere('marked-tls-name.test'),
  ENGINE_TRANSPORT: word,
  ENGINE_HTTP_URL: nowhere('http://marked-engine-http.invalid/marked-base'),
  ENGINE_CODEC_ENDPOINT: nowhere('http://marked-codec.invalid/marked-codec'),
  ENGINE_UI_URL: {
    mark: 'http://marked-ui.invalid/marked-ui',
    may: { answers: '`GET /capabilities` tells people where they can look at histories' },
  },

  SERVICE_CATALOG_ID: {
    mark: 'marked-catalog',
    may: {
      answers: 'the word of callers: `catalog` of what they ask for',
      log: '`listening` names it, and what is wrong with a catalog',
    },
  },
  SERVICE_PORT: { mark: '61789', may: LISTENS },
  SERVICE_HOST: { mark: 'marked-host.invalid', may: LISTENS },
  SERVICE_BASE_PATH: {
    mark: '/marked-base-path',
    may: { answers: 'Location begins with it', log: '`listening` says where' },
  },
  SERVICE_API_AUTH_TOKEN: secret('marked-token,marked-second-token'),
  SERVICE_ALLOW_ANONYMOUS: word,
  SERVICE_FORWARD_HEADERS: nowhere('x-marked-forwarded'),
  SERVICE_CORS_ORIGINS: {
    mark: 'https://marked-origin.test',
    may: { answers: 'Access-Control-Allow-Origin says it to the pages of that origin (contract §6)' },
  },
  SERVICE_MAX_BODY_BYTES: { mark: '2097169', may: LIMIT },
  // Neither this nor SERVICE_SHUTDOWN_TIMEOUT is what a wait of 30 s may have taken, which its answer tells.
  SERVICE_MAX_INFLIGHT: nowhere('70879'),
  SERVICE_MAX_PAYLOAD_BYTES: { mark: '2080771', may: LIMIT },
  SERVICE_RUN_MAX_TIMEOUT: { mark: '86400013', may: LIMIT },
  SERVICE_MAX_POLLS: nowhere('10009'),
  SERVICE_MESSAGE_TIMEOUT: nowhere('60013'),
  SERVICE_CATALOG_TTL: nowhere('50021'),
  SERVICE_RESULT_CACHE_BYTES: nowhere('16777259'),
  SERVICE_SHUTDOWN_TIMEOUT: nowhere('28657'),
  SERVICE_LOG_LEVEL: word,
  SERVICE_CHECK_OUTPUTS: word,
  SERVICE_METRICS_ON: word,
  SERVICE_DOCS_ON: word,
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
    may: { answers: 'a warning of `trace-log` says why a source was left', log: 'so does its line' },
  },

  ENGINE_MAX_CONCURRENT_ACTIVITY_TASK_EXECUTIONS: nowhere('10007'),
  ENGINE_MAX_CONCURRENT_WORKFLOW_TASK_EXECUTIONS: nowhere('10009'),
  ENGINE_MAX_CACHED_WORKFLOWS: nowhere('10037'),
  ENGINE_MAX_CONCURRENT_ACTIVITY_TASK_POLLS: nowhere('10039'),
  ENGINE_MAX_CONCURRENT_WORKFLOW_TASK_POLLS: nowhere('10061'),
}

/** Those that change nothing of a service that does without them, as a storage without its region: what every suite's services are told. */
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
  // A key that travels in plain text has to be told to.
  return {
    ...marks,
    ...(Object.keys(env).every((name) => !name.startsWith('ENGINE_TLS')) && { ENGINE_TLS: 'false' }),
    ...env,
  }
}

/** The variables of `env` whose value, or a part of it, shows in a text though it may not there. */
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

// Every line and every answer of a run is searched for the same few values.
const knownParts = new Map<string, Part[]>()

/** The value and its parts, without what is no secret: schemes, loopback, and parts too short to be found by anything but chance. */
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
