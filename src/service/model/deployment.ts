/** What does not change while the service runs. */
import type { EngineFeatures } from './engine.ts'

/** Properties of this deployment that are fixed at startup. */
export interface Deployment {
  /** Version of the service. */
  version: string
  /** `node`, `bun`, `deno`, `workerd`, or the name that an embedding application sets. */
  runtime: string
  /** How the engine is called. */
  transport: 'grpc' | 'http'
  /** Temporal's web UI; null when it is not known. */
  uiUrl: string | null
  features: Features
}

/** Features that not every deployment supports. */
export interface Features extends EngineFeatures {
  /** A codec server encodes and decodes payloads. */
  codec: boolean
  /** `GET /docs` shows a reference page. */
  docs: boolean
  /** `GET /console` shows runs, and forms that start workflows. */
  console: boolean
  /** `POST /mcp` offers the workflows as tools. */
  mcp: boolean
  /** `POST /tokens` creates access tokens. */
  tokens: boolean
  /** `POST /workflow/:id/links` creates one-use links. */
  links: boolean
  /** The stores that traces are read from, before the engine's history. */
  traceRemote: boolean
  traceKvstore: boolean
  traceLocal: boolean
}

/** A caller whose rights end somewhere. */
export interface CallerRights {
  /** As in the audit log: `token:ci`, `jwt:main:ada`. */
  name: string
  /** The verbs of all rules that apply, as they name them: `read`, `signal:approve`. Each rule may narrow its own. */
  can: string[]
}

export interface Capabilities extends Omit<Deployment, 'features' | 'uiUrl'> {
  features: Record<keyof Features, boolean> & {
    /** Runs of the namespace can be paused; null while the engine does not respond. */
    pause: boolean | null
    /** Activities can be repaired; null while the engine does not respond. */
    repair: boolean | null
    /** The engine has schedules in the namespace; null while it does not respond. */
    schedules: boolean | null
    /** The engine has standalone activities in the namespace; null while it does not respond. */
    standaloneActivities: boolean | null
  }
  /** `version` is null while the engine does not respond. */
  engine: { version: string | null; uiUrl: string | null }
  /** What the caller may do in the namespace; null if that is everything. */
  caller: CallerRights | null
}
