// The views that a first visit does not need: one file more, when the first of them is opened.
export { Audit } from "./audit.js";
export { Authority } from "./authority.js";
export { Certificate } from "./certificate.js";
export { Company } from "./company.js";
export { Inbox } from "./inbox.js";
export { Issue } from "./issue.js";
export { Keys } from "./keys.js";
export { More } from "./more.js";
export { Sequences } from "./sequences.js";
export { Webhook, Webhooks } from "./webhooks.js";
