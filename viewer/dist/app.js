"use strict";
document.getElementById("app").textContent = document.title;
