// The script of every console page. It only improves pages: reading and changing work without it.
import { startCopying } from "./copy.ts";
import { startDialogs } from "./dialogs.ts";
import { startForms } from "./forms.ts";
import { enhanceDocument } from "./improvements.ts";
import { startKeys, startKeysSwitch } from "./keys.ts";
import { startLive } from "./live.ts";
import { startPeople } from "./people.ts";
import { rememberZone } from "./preferences.ts";
import { startRegions } from "./regions.ts";
import { startUploads } from "./upload.ts";

rememberZone();
enhanceDocument(document);
startCopying();
startRegions();
startDialogs();
startForms();
startUploads();
startPeople();
startKeys();
startKeysSwitch();
startLive();
