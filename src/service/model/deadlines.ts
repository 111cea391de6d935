/** The contract: a response that needs no worker arrives within this time. */
export const CONTRACT_MS = 5000

/** How long each part of a request may take, in milliseconds. A unit test adds up the parts that follow one another. */
export const TIMEOUT_MS = {
  /**
   * A whole request that needs no worker. The remaining 500 ms are for reading the request and sending the response.
   */
  request: 4500,

  /**
   * Reading a handler's schema before a message is sent.
   * A message whose schema can't be read in time is sent unchecked.
   */
  handlerSchema: 500,

  /** Reading a catalog. Requests share the read, and each of them stops waiting when its own time is over. */
  catalog: 4000,

  /** Reading the types of the search attributes before a list. Requests share the read. */
  searchAttributes: 2000,

  /**
   * Describing a run, for example after the engine rejected a message to it. Leaves time for `handlerSchema` before it.
   */
  describe: 3500,

  /** How long a request that was sent to a worker counts as work of this service. After that it only waits. */
  workerResponse: 1000,

  /** Time between two pings of the engine while a request waits for a worker. */
  pingInterval: 2000,

  /**
   * One such ping. Only the time counts in which our own process runs. An engine that hangs is detected after the
   * interval and this time, 4 s; an engine that is only slow responds within it.
   */
  ping: 2000,

  /** Reading from the history why a workflow task fails. The response is complete without it. */
  failingTask: 2000,

  /**
   * Reading the names of the workflow's handlers after a query or update failed. Without them a missing handler is
   * reported as one that failed. The worker has just responded, but may be busy.
   */
  handlerNames: 10_000,

  /** Finding out why a worker did not respond in time, and in which run, after that time is over. */
  explanation: 3500,

  /** Finding out which run an update-with-start was sent to, after its time is over. */
  updatedRun: 1500,

  /**
   * `explanation` and `updatedRun`, each, while the service shuts down: the process exits one second after all waits
   * have ended.
   */
  explanationAtShutdown: 450,

  /** Reading a run that has ended, or describing one that did not end in time, after `run` has waited for it. */
  closedRun: 4000,

  /** Reading the schema of an output after the run, if outputs are checked. Without it the output is not checked. */
  outputSchema: 500,

  /** `closedRun` while the service shuts down. */
  closedRunAtShutdown: 600,

  /** One trace source: the contract's own number. */
  traceSource: 3000,

  /** All child runs of a trace together. */
  traceChildren: 3000,

  /** A query of a workflow for its stream. A client that does not wait gets an error within 8 s without a worker. */
  streamQuery: 7000,

  /**
   * `streamQuery` after the run has ended: it is not repeated later. The engine first sends a query to the worker that
   * has the run in its cache, and to another one after 10 s.
   */
  streamTailQuery: 18_000,

  /** After so long such a query is sent again: of 2,500 that were sent beside updates and signals, one was lost. */
  streamQueryAgain: 3000,

  /** Reading what polls of a stream have not returned, after its run has ended: page by page of the whole history. */
  streamTail: 300_000,

  /** Creating a batch: eleven pages of runs at most, and its start, each within `request`. */
  batch: 30_000,

  /** Encoding or decoding with the codec server, with all retries: it happens in the middle of a request. */
  codec: 2000,

  /** Downloading a value from the codec server, whose store is slower than the codec. */
  codecDownload: 4000,

  /** Reading the engine's version for `GET /capabilities`, which is null without it. */
  engineVersion: 1000,

  /** Checking the engine for `GET /ready`. */
  readiness: 1000,

  /** How long the result of that check is reused. Both together stay within the 2 s that the contract allows. */
  readinessCache: 1000,
} as const
