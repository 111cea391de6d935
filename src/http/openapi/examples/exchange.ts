/** A request and its response, as they were. */
export interface Exchange {
  /** Names the example among those of its operation. */
  name: string
  method: string
  path: string
  /** The body of the request. */
  request?: unknown
  status: number
  response: unknown
}
