import type { LinkAction } from './activities/requests.ts'

/** A question with its possible answers, each of which sends a message or completes an activity: docs/links.md. */
export type LinkRequest = {
  /** The question. */
  title: string
  /** 1 to 10, with labels that differ. A comment becomes the property `comment` of the payload. */
  choices: { label: string; payload?: unknown; comment?: 'none' | 'optional' | 'required' }[]
  /** Milliseconds, or a duration such as `3d`; at most 30 days. Default: 24 hours. */
  expiresIn?: number | string
} & LinkAction
