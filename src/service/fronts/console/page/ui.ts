/** The renderer. Everything else imports it from here, so that it can be replaced. */
export type { Child } from 'hono/jsx/dom'
export { memo, render, useCallback, useEffect, useId, useLayoutEffect, useMemo, useRef, useState } from 'hono/jsx/dom'
