/** What can go wrong in a simulation, as probabilities. */

export interface Faults {
  /** Of a call to the engine: no connection. */
  engineRefused: number
  engineRequestLost: number
  engineResponseLost: number
  /** The call arrives, and no response ever comes. */
  engineSilent: number
  /** If it changes something: it never arrives, and its connection stays. */
  engineSwallowed: number
  /** The connection breaks, and the request arrives later all the same. */
  engineRequestLate: number
  /** It gets no response but that a limit of the namespace is reached. */
  engineLimited: number
  /** The mean time after which a gateway notices that a message is lost. */
  lostAfterMs: number
  /** Of a request of a client. */
  clientRequestLost: number
  clientResponseLost: number
  /** It can be repeated, because it has an `Idempotency-Key`, and arrives twice. */
  clientDuplicated: number
  /** Of each moment, about one in a second: the engine cannot be reached for some seconds. */
  engineAway: number
  /** For some seconds, all messages of the engine take a second. */
  engineSlow: number
  /** No worker polls for some seconds. */
  workersAway: number
  /** Clients lose rights, or get them back. */
  policyChanged: number
  /** Workers publish another catalog, which has a workflow more or less. */
  catalogChanged: number
  /** How far the clock of a gateway may be off, in either direction. */
  maxSkewMs: number
}

const NONE: Faults = {
  engineRefused: 0,
  engineRequestLost: 0,
  engineResponseLost: 0,
  engineSilent: 0,
  engineSwallowed: 0,
  engineRequestLate: 0,
  engineLimited: 0,
  lostAfterMs: 300,
  clientRequestLost: 0,
  clientResponseLost: 0,
  clientDuplicated: 0,
  engineAway: 0,
  engineSlow: 0,
  workersAway: 0,
  policyChanged: 0,
  catalogChanged: 0,
  maxSkewMs: 0,
}

const USUAL: Faults = {
  ...NONE,
  engineRefused: 0.01,
  engineRequestLost: 0.02,
  engineResponseLost: 0.06,
  engineSilent: 0.003,
  clientRequestLost: 0.02,
  clientResponseLost: 0.04,
  clientDuplicated: 0.01,
  engineLimited: 0.004,
  engineAway: 0.03,
  engineSlow: 0.03,
  workersAway: 0.03,
  policyChanged: 0.1,
  catalogChanged: 0.1,
}

export const PROFILES = {
  calm: NONE,
  usual: USUAL,
  heavy: { ...USUAL, engineResponseLost: 0.25, engineRequestLost: 0.1, clientResponseLost: 0.1 },
  slow: { ...USUAL, engineResponseLost: 0.2, lostAfterMs: 1500 },
  /** Clocks at most as far apart as the service allows. */
  skewed: { ...USUAL, engineResponseLost: 0.15, maxSkewMs: 30_000 },
  /** Clocks further apart than that: requests can be carried out twice before the difference is measured. */
  apart: { ...USUAL, engineResponseLost: 0.15, maxSkewMs: 120_000 },
  /** The engine and the workers come and go. */
  outages: { ...USUAL, engineAway: 0.2, engineSlow: 0.2, workersAway: 0.2, engineLimited: 0.03 },
  /** Responses are lost, and the engine is at its limit. */
  limited: { ...USUAL, engineResponseLost: 0.2, engineLimited: 0.15 },
  /** Clients lose rights, and get them back, all the time. */
  policies: { ...USUAL, policyChanged: 0.5 },
  /** Connections that still answer pings lose requests. */
  swallowed: { ...USUAL, engineSwallowed: 0.2 },
  /** Late requests can be carried out twice: docs/decisions/003-our-own-retries.md */
  late: { ...USUAL, engineRequestLate: 0.05 },
} as const satisfies Record<string, Faults>

export type ProfileName = keyof typeof PROFILES
