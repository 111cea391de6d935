/** The program as it was typed: npm sets this variable for what `npx` runs. */
export const PROGRAM = process.env.npm_lifecycle_event === 'npx' ? 'npx portico' : 'portico'
