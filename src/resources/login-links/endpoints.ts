import { createLoginLink } from './create-login-link.ts'

/** In the order of the API description. */
export const endpoints = [createLoginLink]
